"""The peers' side of `analysis_speed.py`: run by an interpreter in which they are installed.

    python analysis_peers.py time SCORES.npy PROFILE     CPU seconds of each peer, as JSON
    python analysis_peers.py report NAME SCORES.csv      one peer's own report, a whole process

A peer that is not installed, or refuses the data, gives the error's text in place of a number. What
is linear in the number of resamples is run with fewer of them and scaled up; the label says so.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

RESAMPLES = {"short": 20, "full": 200}
SLOW = 200_000
"""Above so many readings pingouin (minutes) is left to the full profile."""


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def scaled(work: Callable[[int], object], resamples: int, asked: int) -> float:
    """CPU seconds of `asked` resamples, from `resamples` of them and from one."""
    one, many = cpu(lambda: work(1)), cpu(lambda: work(resamples))
    return one + max(0.0, many - one) / (resamples - 1) * (asked - 1)


def noisefloor(scores: np.ndarray, profile: str) -> dict[str, float]:
    import noisefloor as peer

    first = {str(i): row.tolist() for i, row in enumerate(scores)}
    second = {str(i): row[::-1].tolist() for i, row in enumerate(scores)}
    boots = RESAMPLES[profile]
    return {
        "noisefloor-llm `compare`, 2,000 resamples": scaled(
            lambda b: peer.compare(first, second, boots=max(b, 41)), boots + 41, 2_000
        ),
        "noisefloor-llm `retest`, no interval": cpu(lambda: peer.retest(first)),
    }


def raters(scores: np.ndarray, profile: str) -> dict[str, float]:
    from raters import bootstrap_ci
    from raters.intra import icc_1_1, within_item_variance_ci

    boots, n = RESAMPLES[profile], scores.shape[0]
    return {
        "rater-agreement variance, 1,000 resamples": scaled(
            lambda b: within_item_variance_ci(scores, n_boot=b), boots, 1_000
        ),
        "rater-agreement ICC, 1,000 resamples": scaled(
            lambda b: bootstrap_ci(lambda idx: icc_1_1(scores[idx]), n, n_boot=b), boots, 1_000
        ),
    }


def metajudge(scores: np.ndarray, profile: str) -> dict[str, float]:
    import metajudge as peer

    ratings = _ratings(scores)
    return {
        "metajudge `icc`": cpu(lambda: peer.icc(ratings)),
        "metajudge `krippendorff_alpha`, 1,000 resamples": scaled(
            lambda b: peer.krippendorff_alpha(ratings, n_bootstrap=b), 5, 1_000
        ),
    }


def pingouin(scores: np.ndarray, profile: str) -> dict[str, float | str]:
    import pingouin as peer

    name = "pingouin `intraclass_corr`"
    if profile == "short" and scores.size > SLOW:
        return {name: "left to the full profile"}
    frame = _frame(scores)
    return {name: cpu(lambda: peer.intraclass_corr(frame, "item", "run", "score"))}


def scipy_bootstrap(scores: np.ndarray, profile: str) -> dict[str, float]:
    from scipy.stats import bootstrap

    def ratio(index: np.ndarray) -> float:
        y = scores[index]
        k = y.shape[1]
        within = y.var(axis=1, ddof=1).mean()
        between = k * y.mean(axis=1).var(ddof=1)
        return float((between - within) / (between + (k - 1) * within))

    rows = np.arange(scores.shape[0])

    def run(resamples: int) -> None:
        bootstrap((rows,), ratio, n_resamples=resamples, vectorized=False, method="percentile")

    return {"scipy.stats.bootstrap of ICC, 2,000 resamples": scaled(run, RESAMPLES[profile], 2_000)}


PEERS = {
    "noisefloor-llm": noisefloor,
    "rater-agreement": raters,
    "metajudge": metajudge,
    "pingouin": pingouin,
    "scipy": scipy_bootstrap,
}


def _frame(scores: np.ndarray) -> Any:
    import pandas as pd

    n, k = scores.shape
    columns = {
        "item": np.repeat(np.arange(n), k),
        "run": np.tile(np.arange(k), n),
        "score": scores.ravel(),
    }
    return pd.DataFrame(columns)


def _ratings(scores: np.ndarray) -> Any:
    from metajudge import Ratings

    return Ratings.from_long(_frame(scores), item="item", rater="run", score="score")


def timed(path: str, profile: str) -> dict[str, float | str]:
    scores = np.load(path)
    found: dict[str, float | str] = {}
    for name, work in PEERS.items():
        try:
            found |= work(scores, profile)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def report(name: str, path: str) -> None:
    """Print what a peer says of a CSV, with its own defaults and its own intervals."""
    import pandas as pd

    frame = pd.read_csv(path)
    if name == "metajudge":
        from metajudge import Ratings, audit

        frame["half"] = np.where(frame["item"].str[1:].astype(int) % 2, "odd", "even")
        ratings = Ratings.from_long(frame, item="item", rater="run", score="score", stratum="half")
        print(audit(ratings, focal="odd", reference="even").to_markdown())
        return
    scores = frame.pivot(index="item", columns="run", values="score").to_numpy(float)
    from raters import bootstrap_ci
    from raters.intra import flip_rate, icc_1_1, within_item_variance, within_item_variance_ci

    print(within_item_variance(scores), within_item_variance_ci(scores), flip_rate(scores))
    print(icc_1_1(scores), bootstrap_ci(lambda idx: icc_1_1(scores[idx]), len(scores)))


if __name__ == "__main__":
    if sys.argv[1] == "time":
        print(json.dumps(timed(*sys.argv[2:4])))
    else:
        report(*sys.argv[2:4])
