#!/bin/sh
# The story of this folder in real commands: sh prereg/clean-engineering/story.sh NEW_FOLDER
# Needs `judgeaudit` on the path; no key, no network. Days pass on the virtual clock.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?name a new folder}
mkdir "$work"
cp -r "$here/first" "$here/redesigned" "$work/"
cd "$work"

say() { printf '\n## %s\n' "$1"; }
show() { printf '$ %s\n' "$*"; "$@" 2>&1; }
refused() { # runs a command that must not succeed, and shows its exit code
  printf '$ %s\n' "$*"
  if "$@" 2>&1; then echo "expected a refusal"; exit 9; else echo "exit code $?"; fi
}

say "The battery: 100 tasks with 10 candidates, from seed 5"
show judgeaudit init battery --protocol ranking --n 100 --seed 5
for study in first redesigned; do
  cp battery/protocol.toml battery/items.jsonl battery/controls.jsonl "$study/"
done

say "1. Requirement: what the consumer tolerates, and what the gate can tell before any call"
refused judgeaudit prereg oc first

say "2. Pilot: a sealed study of its own with the gate's facets"
show judgeaudit pilot first

say "3. Refusal: the gate on its pilot"
digest="sha256:$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' first/pilot/results/pilot.json)"
printf '\n[pilot]\ndigest = "%s"\n' "$digest" >> first/registration.toml
refused judgeaudit prereg freeze first

say "4. Redesigned gate: pairs, at the consumer's own granularity"
sed "s/@PILOT@/$digest/" redesigned/registration.toml > redesigned/with-digest
mv redesigned/with-digest redesigned/registration.toml
show judgeaudit prereg oc redesigned --plot oc.svg
show judgeaudit prereg power redesigned

say "5. Freeze, run, verify"
show judgeaudit prereg freeze redesigned
show judgeaudit run redesigned --all
show judgeaudit verify redesigned

say "6. Verdict"
show judgeaudit analyze redesigned
