"""What a plan will cost: calls, time, tokens, money. Estimates say what they assume.

* prompt tokens: body bytes / 4; completion tokens: at most the registered `max_tokens` a call;
* time of a window: the slowest endpoint's calls, one condition after another, at the slower of
  `in_flight` / `LATENCY_S`, the requests per minute and the tokens per minute;
* between windows: `min_gap` within a day, `day_gap` between days.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from judgeaudit.design.bodies import BodyKey
from judgeaudit.design.document import EndpointSpec, Registration
from judgeaudit.design.plan import windows
from judgeaudit.design.protocol import ProtocolDocument
from judgeaudit.errors import Problem
from judgeaudit.model import JSON, PlannedCall

LATENCY_S = 2.0
"""Assumed seconds a call; a guess for a model's short answer."""

SIMULATED_S = 0.02
"""Assumed seconds a call at a simulated endpoint."""

MOST_CALLS = 10_000_000
"""Calls that a plan may have: a hundred times what was measured, so a slip of the pen."""

BYTES_A_TOKEN = 4
MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Numbers:
    """What `prereg check` prints."""

    calls: int
    preflight: int
    cap: int
    bodies: int
    windows: int
    longest_window: timedelta
    duration: timedelta
    prompt_tokens: int
    completion_tokens: int
    cost: Mapping[str, Decimal]
    calls_by_endpoint: Mapping[str, int]

    @property
    def needed(self) -> int:
        """The smallest cap that holds the plan without a single retry; preflight is beside it."""
        return self.calls

    def lines(self) -> Iterator[str]:
        """Yield the numbers as text, with their assumptions."""
        where = "1 window" if self.windows == 1 else f"{self.windows} windows"
        yield f"calls: {self.calls} in {where}, and {self.preflight} preflight beside the cap"
        yield f"bodies: {self.bodies}"
        room = self.cap - self.needed
        left = f"{room} left for retries" if room >= 0 else f"{-room} fewer than the plan needs"
        yield f"cap: {self.cap} attempts, {left}"
        assumed = f"assuming {LATENCY_S:g} s a call, {SIMULATED_S:g} s where simulated"
        longest = _time(self.longest_window)
        yield f"expected duration: {_time(self.duration)} with gaps; longest window {longest}"
        yield f"  ({assumed})"
        yield (
            f"tokens: about {self.prompt_tokens} prompt (bytes / {BYTES_A_TOKEN}), "
            f"at most {self.completion_tokens} completion"
        )
        money = ", ".join(f"{amount:.2f} {currency}" for currency, amount in self.cost.items())
        yield f"cost: at most about {money}" if money else "cost: no prices registered"

    def as_json(self) -> dict[str, JSON]:
        """Return the numbers as a JSON document."""
        return {
            "calls": self.calls,
            "calls_by_endpoint": dict(self.calls_by_endpoint),
            "preflight": self.preflight,
            "cap": self.cap,
            "needed": self.needed,
            "bodies": self.bodies,
            "windows": self.windows,
            "longest_window_s": self.longest_window.total_seconds(),
            "duration_s": self.duration.total_seconds(),
            "assumed_latency_s": {"call": LATENCY_S, "simulated": SIMULATED_S},
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens_at_most": self.completion_tokens,
            "cost_at_most": {currency: str(amount) for currency, amount in self.cost.items()},
        }


def measure(
    registration: Registration,
    protocol: ProtocolDocument,
    plan: Sequence[PlannedCall],
    sizes: Mapping[BodyKey, int],
    bodies: int,
) -> Numbers:
    """Return the numbers of a plan.

    `sizes` gives the bytes of each request's body, `bodies` how many of these differ.
    """
    stages = protocol.all_stages()
    specs = {spec.id: spec for spec in registration.endpoints}
    prompt: Counter[str] = Counter()
    completion: Counter[str] = Counter()
    for call in plan:
        size = sizes[call.endpoint, call.stage, call.item, call.arm]
        prompt[call.endpoint] += -(-size // BYTES_A_TOKEN)
        completion[call.endpoint] += stages[call.stage - 1].decoding.max_tokens
    wide = len(windows(registration.schedule, len(stages)))
    times = window_times(registration, plan, prompt.total() / max(len(plan), 1))
    return Numbers(
        calls=len(plan),
        preflight=len(registration.endpoints) * wide,
        cap=registration.schedule.cap,
        bodies=bodies,
        windows=wide,
        longest_window=max(times.values(), default=timedelta(0)),
        duration=sum(times.values(), timedelta(0)) + _gaps(registration),
        prompt_tokens=prompt.total(),
        completion_tokens=completion.total(),
        cost=_cost(specs, prompt, completion),
        calls_by_endpoint=Counter(call.endpoint for call in plan),
    )


def window_times(
    registration: Registration, plan: Sequence[PlannedCall], tokens_a_call: float
) -> dict[str, timedelta]:
    """Return how long each window is expected to last: its slowest endpoint's time."""
    conditions = {one.name: one.in_flight for one in registration.schedule.conditions}
    specs = {spec.id: spec for spec in registration.endpoints}
    counts = Counter((call.window, call.endpoint, call.condition) for call in plan)
    lanes: Counter[tuple[str, str]] = Counter()
    for (window, endpoint, condition), calls in counts.items():
        rate = _rate(specs[endpoint], conditions[condition], tokens_a_call)
        lanes[window, endpoint] += calls / rate  # type: ignore[assignment]
    slowest: dict[str, float] = {}
    for (window, _), seconds in lanes.items():
        slowest[window] = max(slowest.get(window, 0.0), seconds)
    return {window: timedelta(seconds=seconds) for window, seconds in slowest.items()}


def _rate(spec: EndpointSpec, in_flight: int, tokens_a_call: float) -> float:
    """Return calls a second at which an endpoint can be asked."""
    rates = [in_flight / (SIMULATED_S if spec.is_simulated else LATENCY_S)]
    if spec.requests_per_minute is not None:
        rates.append(spec.requests_per_minute / 60)
    if spec.tokens_per_minute is not None:
        rates.append(spec.tokens_per_minute / 60 / max(tokens_a_call, 1.0))
    return min(rates)


def _gaps(registration: Registration) -> timedelta:
    schedule = registration.schedule
    within = schedule.min_gap * (schedule.windows_per_day - 1) * schedule.days
    return within + schedule.day_gap * (schedule.days - 1)


def _cost(
    specs: Mapping[str, EndpointSpec], prompt: Mapping[str, int], completion: Mapping[str, int]
) -> dict[str, Decimal]:
    cost: dict[str, Decimal] = {}
    for name, spec in specs.items():
        prices = spec.prices
        amount = prices.prompt * prompt[name] + prices.completion * completion[name]
        if amount:
            cost[prices.currency] = cost.get(prices.currency, Decimal(0)) + amount / MILLION
    return cost


def size_problem(registration: Registration, items: int) -> Problem | None:
    """Return that a plan is too large to be written down, without making it; None where it is not.

    What is counted is items x endpoints x conditions x windows x repeats x draws: shares, blocks
    and arms change it by small factors that matter nothing here.
    """
    schedule = registration.schedule
    asked = min(items, schedule.block or items)
    passes = schedule.days * schedule.windows_per_day * schedule.repeats * schedule.draws
    calls = asked * len(registration.endpoints) * len(schedule.conditions) * passes
    if calls <= MOST_CALLS:
        return None
    allowed = f"at most {MOST_CALLS} calls in one study; lower repeats, draws, days or windows"
    return Problem("schedule", f"about {calls} calls", allowed)


def numbers_problems(registration: Registration, numbers: Numbers) -> Iterator[Problem]:
    """Yield a cap or a budget that cannot hold the plan."""
    if numbers.cap < numbers.needed:
        yield Problem(
            "schedule.cap",
            f"{numbers.cap} attempts, but the plan has {numbers.calls} calls with its controls",
            f"at least {numbers.needed}, and more for retries",
        )


def numbers_notes(registration: Registration, numbers: Numbers) -> Iterator[str]:
    """Yield numbers that may surprise: no room for retries, a window that may not fit."""
    room = numbers.cap - numbers.needed
    if 0 <= room < numbers.needed // 20:
        yield f"schedule.cap leaves {room} attempts for retries, less than 5 % of the plan"
    limit = registration.schedule.max_duration
    if numbers.longest_window > limit:
        yield (
            f"the longest window is expected to take {_time(numbers.longest_window)}, and closes "
            f"after {_time(limit)}: what is unsent then is window_closed"
        )
    budget = registration.schedule.budget
    if budget is not None and any(amount > budget for amount in numbers.cost.values()):
        yield f"schedule.budget = {budget} may be hit before the plan ends"


def _time(span: timedelta) -> str:
    seconds = round(span.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 72 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"
