"""Make everything in this folder again: `python sample_data/make.py [--into DIR]`.

* `batteries/KIND.jsonl`: one small battery of each kind, from seed 1;
* `noisy-score/`: a registered study of the simulated judge `noisy`, frozen, run and sealed on the
  virtual clock;
* `scores.csv`: its readings as anybody's table, for `judgeaudit analyze sample_data/scores.csv
  --item item --repeat repeat --score score --digest request`.

A lock holds the time and the environment of its freeze, so a study made again has other digests
there; its plan, bodies and readings are the same, and a test compares those.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from pathlib import Path

from judgeaudit.battery import items_to_bytes
from judgeaudit.battery.catalogue import build_battery
from judgeaudit.evidence.log.load import load_readings

HERE = Path(__file__).parent
BATTERIES = {"traces": 2, "rankings": 4, "slips": 2, "pairs": 8, "scores": 4, "worlds": 16}
STUDY = "noisy-score"


def command(*arguments: str) -> None:
    """Run a judgeaudit command and fail where it fails."""
    subprocess.run([sys.executable, "-m", "judgeaudit", *arguments], check=True, stdout=sys.stderr)


def make_batteries(folder: Path) -> None:
    """Write one battery of each kind."""
    folder.mkdir()
    for kind, size in BATTERIES.items():
        (folder / f"{kind}.jsonl").write_bytes(items_to_bytes(build_battery(kind, size, 1).items))


def make_study(root: Path) -> None:
    """Make, freeze, run and verify the study."""
    command("init", str(root), "--protocol", "score", "--base-url", "embedded:noisy", "--n", "10")
    registration = root / "registration.toml"
    text = registration.read_text(encoding="utf-8")
    text = text.replace("repeats = 2 ", 'clock = "virtual"\nrepeats = 5 ')
    text = text.replace('["(your name)"]', '["judgeaudit"]').replace("cap = ", "cap = 1000 # ")
    registration.write_text(text, encoding="utf-8")
    command("prereg", "freeze", str(root))
    command("run", str(root), "--all")
    command("verify", str(root))


def make_table(root: Path, path: Path) -> None:
    """Write the study's readings as a table: one row an answer, an invalid one left empty."""
    readings = load_readings(root / "log").to_pylist()
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["item", "repeat", "score", "request"])
        for row in sorted(readings, key=lambda row: (row["item"], row["repeat"])):
            if not row["item"].startswith("control"):
                score = "" if row["number"] is None else f"{row['number']:g}"
                request = row["body_sha256"].removeprefix("sha256:")[:12]
                writer.writerow([row["item"], row["repeat"], score, request])


def main() -> None:
    """Make the folder's contents; refuses to write over them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=HERE)
    into = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    make_batteries(into / "batteries")
    make_study(into / STUDY)
    make_table(into / STUDY, into / "scores.csv")


if __name__ == "__main__":
    main()
