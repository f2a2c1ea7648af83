#!/usr/bin/env bash
# The Action's steps as a script that runs anywhere: verify what is frozen, ask, decide.
#   STUDY=evals/judge RUN_KEY=$(git rev-parse HEAD) bash docs/ci-gate.sh
# Optional: AGAINST (a sealed baseline), JUNIT, MARKDOWN. The exit code is the gate's.
set -uo pipefail
: "${STUDY:?name the folder of the frozen study in STUDY}"
# A nightly job meets the same commit every day and asks it anew; a re-run of the job goes on.
[ "${GITHUB_EVENT_NAME:-}" != schedule ] || RUN_KEY="${RUN_KEY:-nightly}-$(date -u +%F)"
arguments=(gate "$STUDY" --junit "${JUNIT:-judge-gate.xml}" --markdown "${MARKDOWN:-judge-gate.md}")
[ -z "${RUN_KEY:-}" ] || arguments+=(--run-key "$RUN_KEY")
[ -z "${AGAINST:-}" ] || arguments+=(--against "$AGAINST")

judgeaudit prereg verify "$STUDY" || exit $?
judgeaudit "${arguments[@]}"
code=$?
case $code in
  0) outcome=pass ;;
  1) outcome=fail ;;
  *) outcome=undefined ;;
esac
[ -z "${GITHUB_OUTPUT:-}" ] || echo "outcome=$outcome" >> "$GITHUB_OUTPUT"
for run in "$STUDY"/gates/*/; do
  [ ! -f "$run/run.json" ] || judgeaudit verify "$run" || exit $?
done
exit $code
