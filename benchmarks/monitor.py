"""False alarms and delay of `judgeaudit monitor` on simulated baselines.

    python benchmarks/monitor.py --profile ci      seconds; exit 1 if a promise is broken
    python benchmarks/monitor.py --profile full --out docs/monitor.md

A run is a pass over 60 anchors. Two reference runs set each item's mean and the within-item SD, N
clean runs the threshold, as `judgeaudit.verdict.monitor` does. Outcomes that share a calibration
are dependent, so the Monte Carlo error of a rate is that of the mean over calibrations.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from planted import simulated_runs

from judgeaudit.stats.alarm import calibrate, cusum

SEED = 20_260_131
ALPHA, ITEMS, REFERENCE, TESTS, START = 0.05, 60, 2, 10, 20
CALIBRATIONS = {"ci": 400, "full": 2000}
BASELINES = {
    "iid": {},
    "AR(.5)": {"ar": 0.5},
    "iid, ties (grid of one SD)": {"step": 1.0},
    "AR(.5), ties (grid of one SD)": {"ar": 0.5, "step": 1.0},
}
SIZES = (19, 39, 99)
SHIFTS = (0.5, 1.0)


def standardised(rng, runs, planted, shift=0.0):
    """Residuals (calibration runs, clean test runs, shifted test runs) by estimated means."""
    made = simulated_runs(rng, REFERENCE + runs + TESTS, ITEMS, **planted)
    moved = simulated_runs(rng, TESTS, ITEMS, shift=shift, start=START, **planted)
    known, rest = made[:REFERENCE], made[REFERENCE:]
    means = known.mean(axis=0)
    sd = float(np.sqrt(((known - means) ** 2).sum() / (ITEMS * (REFERENCE - 1))))
    scaled = [(part - means) / sd for part in (rest[:runs], rest[runs:], moved)]
    return scaled


def cell(rng, runs, planted, calibrations, shift):
    """Share of clean runs that alarm, of shifted ones, and delays, over many calibrations."""
    false, found, delays = np.empty(calibrations), np.empty(calibrations), []
    for number in range(calibrations):
        clean, test, moved = standardised(rng, runs, planted, shift)
        limit = calibrate(cusum(clean).max(axis=-1), ALPHA)
        false[number] = limit.alarms(cusum(test).max(axis=-1)).mean()
        after = cusum(moved)[:, START:] > limit.value
        found[number] = after.any(axis=1).mean()
        delays += (after.argmax(axis=1)[after.any(axis=1)] + 1).tolist()
    return false, found, delays


def rows(calibrations, broken):
    told = []
    for place, (name, planted) in enumerate(BASELINES.items()):
        for runs in SIZES:
            for shift in SHIFTS:
                rng = np.random.default_rng([SEED, place, runs, int(10 * shift)])
                false, found, delays = cell(rng, runs, planted, calibrations, shift)
                rate, error = false.mean(), false.std(ddof=1) / np.sqrt(calibrations)
                told.append(
                    [
                        name,
                        str(runs),
                        f"{rate:.3f} ± {error:.3f}",
                        f"{rate * 365:.0f}",
                        f"{shift:g} SD",
                        f"{found.mean():.3f}",
                        f"{np.median(delays):.0f}" if delays else "none",
                    ]
                )
                if rate > ALPHA + 4 * error:
                    broken.append(f"{name}, N = {runs}: false alarms {rate:.3f} ± {error:.3f}")
                if shift == 1.0 and "AR" not in name and runs == 99 and found.mean() < 0.9:
                    broken.append(f"{name}, N = {runs}: a shift of one SD found {found.mean():.3f}")
    return told


INTRO = """# The drift alarm, measured

Made by `python benchmarks/monitor.py --profile full`; do not edit.
A run is a pass over {items} anchors; {reference} reference runs set means and SD, N clean runs the
threshold, registered alpha {alpha:g} a run.
{calibrations:,} calibrations a row, {tests} clean and {tests} shifted runs each.
The shift begins at anchor {start} of {items}; the delay is the median number of anchors from there
to the alarm, of the runs that alarm.
Alarms a year are false ones, at one run a day.

"""
HEADER = ["baseline", "N", "false alarms a run", "a year", "shift", "found", "delay, anchors"]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=sorted(CALIBRATIONS), default="ci")
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file")
    options = parser.parse_args(argv)
    calibrations, broken = CALIBRATIONS[options.profile], []
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(calibrations, broken)]
    about = {"items": ITEMS, "reference": REFERENCE, "alpha": ALPHA, "tests": TESTS, "start": START}
    text = INTRO.format(calibrations=calibrations, **about) + "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
