"""Every contrast, interval and claim of a memory-luck study, again, from its sealed files alone.

Run it on a study: `python tests/reference/memory_luck.py STUDY`. It reads `frozen/protocol.toml`,
`frozen/items.jsonl` and the sealed `readings.parquet`, shares no line with the package, and takes
the long way: dictionaries and loops, Tango's ends by maximising the likelihood under a fixed
difference, Newcombe's from its paper, MOVER from pairs, t with the widening written out.
"""

import json
import math
import sys
import tomllib
from pathlib import Path

import pyarrow.parquet as pq
from scipy import optimize, stats

PSEUDO, RARE = (1.0, -1.0), 10


def choices(study):
    """Return {endpoint: {cell: {world: [1 (worse), 0 (better) or None]}}} of the last stage."""
    items = [json.loads(x) for x in (study / "frozen/items.jsonl").read_text().splitlines()]
    worlds = [item["id"] for item in items if "control" not in item.get("meta", {})]
    rows = []
    for path in sorted(study.glob("log/sealed/*/readings.parquet")):
        rows += pq.read_table(path).to_pylist()
    last = max(row["stage"] for row in rows)
    found = {}
    for row in rows:
        if row["stage"] == last and row["item"] in worlds:
            cell = found.setdefault(row["endpoint"], {}).setdefault(row["arm"].split(":")[0], {})
            value = {"worse": 1, "better": 0}[row["category"]] if row["status"] == "ok" else None
            cell.setdefault(row["item"], []).append(value)
    return found, worlds


def by_world(cells, weights, worlds):
    """Return the contrast of each world that has a choice in every cell, in order."""
    found = {}
    for world in worlds:
        answers = {cell: [v for v in cells[cell][world] if v is not None] for cell in weights}
        if all(answers.values()):
            found[world] = {cell: sum(v) / len(v) for cell, v in answers.items()}
    return found


def pairs_of(weights):
    """Pair each cell with the next one of the other sign that has none yet; (plus, minus)."""
    waiting, pairs = [], []
    for cell, weight in weights.items():
        other = next((c for c in waiting if weights[c] * weight < 0), None)
        if other is None:
            waiting.append(cell)
        else:
            waiting.remove(other)
            pairs.append((cell, other) if weight > 0 else (other, cell))
    return pairs


def tango(b, c, n, z):
    def score(delta):
        def minus_log(p01):
            table = ((b, p01 + delta), (c, p01), (n - b - c, 1 - delta - 2 * p01))
            return -sum(k * math.log(max(p, 1e-300)) for k, p in table if k)

        low, high = max(0.0, -delta), (1 - delta) / 2
        # The likeliest chance of cell c at this difference is a root of a quadratic, or an end.
        linear = (2 * n + c - b) * delta - b - c
        root = math.sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0))
        tried = [(root - linear) / (4 * n), low, high]
        p01 = min((min(max(q, low), high) for q in tried), key=minus_log)
        sd = math.sqrt(max(n * (2 * p01 + delta * (1 - delta)), 1e-300))
        return (b - c - n * delta) / sd

    value = (b - c) / n
    low = optimize.brentq(lambda x: score(x) - z, -1 + 1e-12, value, xtol=1e-14)
    high = optimize.brentq(lambda x: score(x) + z, value, 1 - 1e-12, xtol=1e-14)
    return low, high


def wilson(s, n, z):
    centre, half = s + z * z / 2, z * math.sqrt(s * (n - s) / n + z * z / 4)
    return (centre - half) / (n + z * z), (centre + half) / (n + z * z)


def newcombe(a, b, c, d, z):
    n = a + b + c + d
    p1, p2, cross = (a + b) / n, (a + c) / n, a * d - b * c
    cross = max(cross - n / 2, 0) if cross > 0 else cross
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    phi = cross / math.sqrt(margins) if margins else 0.0
    (l1, u1), (l2, u2) = wilson(a + b, n, z), wilson(a + c, n, z)

    def reach(x, y):
        return math.sqrt(max(x * x - 2 * phi * x * y + y * y, 0))

    return p1 - p2 - reach(p1 - l1, u2 - p2), p1 - p2 + reach(u1 - p1, p2 - l2)


def correlation(x, y):
    mx, my = sum(x) / len(x), sum(y) / len(y)
    xx = sum((v - mx) ** 2 for v in x)
    yy = sum((v - my) ** 2 for v in y)
    return (
        sum((v - mx) * (w - my) for v, w in zip(x, y, strict=True)) / math.sqrt(xx * yy)
        if xx * yy
        else 0
    )


def paired_ends(table, weights, z, kind):
    """MOVER over pairs: the sum of differences, positive correlations between them added."""
    parts = []
    for plus, minus in pairs_of(weights):
        counts = {key: 0 for key in ((1, 1), (1, 0), (0, 1), (0, 0))}
        for answers in table.values():
            counts[int(answers[plus]), int(answers[minus])] += 1
        a, b, c, d = (counts[key] for key in ((1, 1), (1, 0), (0, 1), (0, 0)))
        low, high = tango(b, c, len(table), z) if kind == "tango" else newcombe(a, b, c, d, z)
        values = [answers[plus] - answers[minus] for answers in table.values()]
        parts.append(((b - c) / len(table), low, high, values))
    total = sum(part[0] for part in parts)
    ends = []
    for side, sign in ((1, -1), (2, 1)):
        square = 0.0
        for i, one in enumerate(parts):
            square += (one[side] - one[0]) ** 2
            for other in parts[:i]:
                r = max(correlation(one[3], other[3]), 0)
                square += 2 * r * (one[side] - one[0]) * (other[side] - other[0])
        ends.append(total + sign * math.sqrt(square))
    return tuple(ends)


def moments(values):
    mean = sum(values) / len(values)
    m2 = sum((v - mean) ** 2 for v in values) / len(values)
    m3 = sum((v - mean) ** 3 for v in values) / len(values)
    return mean, m2, (m3 / m2**1.5 if m2 > 0 else 0.0)


def widened(centre, se, skew, worlds, df, level):
    t, z = stats.t.ppf(0.5 + level / 2, df), stats.norm.ppf(0.5 + level / 2)
    shift = skew * (2 * z * z + 1) / (6 * math.sqrt(worlds))
    return centre - (t + max(-shift, 0)) * se, centre + (t + max(shift, 0)) * se


def these(d, worlds, level):
    """The mean over endpoints; `d` is {endpoint: {world: value}}."""
    means = {e: sum(v.values()) / len(v) for e, v in d.items()}
    value, seen = sum(means.values()) / len(means), []
    moved = 0
    for world in worlds:
        there = {e: v[world] for e, v in d.items() if world in v}
        if not there:
            continue
        seen.append(sum((x - means[e]) / len(d[e]) for e, x in there.items()) / len(d))
        moved += any(x != 0 for x in there.values())
    n = len(seen)
    se = math.sqrt(n / (n - 1) * sum(u * u for u in seen))
    centre, df = value, n - 1
    if moved < RARE:
        squares = (n - 1) * n * se**2 + n * value**2 + 2
        centre = n * value / (n + 2)
        # Pseudo-worlds may widen and never narrow.
        se = max(se, math.sqrt((squares - (n + 2) * centre**2) / (n + 1) / (n + 2)))
    skew = moments([n * u for u in seen])[2]
    return value, *widened(centre, se, skew, n, df, level)


def claims(lower, upper, margin):
    return {"present": lower > 0, "large": lower > margin, "negligible": upper < margin}


def contrasts(study):
    """Yield (name, scope, endpoint or "all", value, low, high, lower, upper, claims)."""
    protocol = tomllib.loads((study / "frozen/protocol.toml").read_text())
    answers, worlds = choices(study)
    z, z_one = stats.norm.ppf(0.975), stats.norm.ppf(0.95)
    for spec in protocol["contrasts"]:
        weights = {cell: float(w) for cell, w in spec["weights"].items()}
        assert abs(sum(weights.values())) < 1e-12
        margin = float(spec.get("margin", 0.10))
        labels = [f"{k}={v}" for k, v in spec.get("labels", {}).items()]
        scope = ", ".join([spec["name"], spec.get("scope", "all"), *labels])
        d = {}
        for endpoint, cells in answers.items():
            table = by_world(cells, weights, worlds)
            d[endpoint] = {w: sum(weights[c] * y for c, y in a.items()) for w, a in table.items()}
            if not table:
                yield scope, endpoint, None
                continue
            value = sum(d[endpoint].values()) / len(table)
            low, high = paired_ends(table, weights, z, "tango")
            lower, upper = paired_ends(table, weights, z_one, "newcombe")
            yield scope, endpoint, (value, low, high, lower, upper, claims(lower, upper, margin))
        kept = {e: v for e, v in d.items() if v}
        if len(answers) > 1 and kept:
            value, low, high = these(kept, worlds, 0.95)
            _, lower, upper = these(kept, worlds, 0.90)
            yield scope, "all", (value, low, high, lower, upper, claims(lower, upper, margin))


if __name__ == "__main__":
    for scope, endpoint, told in contrasts(Path(sys.argv[1])):
        if told is None:
            print(f"{scope} [{endpoint}]: no world has a choice in each cell")
        else:
            value, low, high, lower, upper, held = told
            said = ", ".join(name for name, yes in held.items() if yes) or "nothing"
            print(
                f"{scope} [{endpoint}]: {value:+.6f} ({low:+.6f}, {high:+.6f}); "
                f"one-sided {lower:+.6f}, {upper:+.6f}; shown: {said}"
            )
