"""The protocol document: a measurement procedure, apart from what it is applied to.

    name = "ranking"
    version = "1"
    source = "where the procedure comes from"
    readout = "ranking"
    [options]                what the readout takes (its own Options model)
    [prompt]
    system = "..."           may be left out
    user = "... {question} ..."
    [decoding]               API-neutral: temperature, top_p, max_tokens, seed, stop

A protocol with several stages lists them instead; each later stage says in `cells[].take` how its
bodies are made from sealed replies of an earlier one:

    [[stages]]
    readout = "text"
    prompt = {...}
    texts = {instruction = "What did {tool} teach?"}
    [[stages.cells]]
    name = "lesson-F"
    fields = {outcome = "@outcome_failed"}

A protocol whose cells are compared declares factors with their levels (and words for people), the
levels of each cell, and contrasts; `docs/memory-luck.md` has an example:

    [factors.lesson]
    F = "lesson of failure"
    [[contrasts]]
    name = "harm"
    weights = { FF = 1, FU = -1 }
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from judgeaudit.design.base import Name, Strict

_FIELD = re.compile(r"\{[^\W\d][\w-]*\}")


class PromptSpec(Strict):
    """Templates with `{field}` placeholders; `{{` and `}}` are braces.

    `recorded = true`: `user` is one placeholder, and the field that it names is a whole request
    body as somebody's program sent it; it is sent again, byte for byte.
    """

    system: str | None = None
    user: str
    recorded: bool = False

    @model_validator(mode="after")
    def _recorded_is_a_field(self) -> Self:
        if self.recorded and (self.system is not None or not _FIELD.fullmatch(self.user)):
            raise ValueError('recorded needs user = "{field}" and no system')
        return self


class Decoding(Strict):
    """Decoding parameters by API-neutral names; None is "not sent".

    `max_tokens_field` renames the field that carries `max_tokens`, for models that count reasoning.
    """

    temperature: Any = None
    top_p: Any = None
    max_tokens: int = Field(default=1024, ge=1)
    seed: int | None = None
    stop: list[str] | None = None
    max_tokens_field: str | None = None


class Take(Strict):
    """How one placeholder of a later stage is filled from an earlier stage's sealed replies.

    `own` takes the reading of the same item in `cell`. `unrelated` takes that cell's reading of an
    item of another task at the same endpoint, by the matching rule in `registration/stages.py`:
    `avoid` names fields of this item whose texts may not occur in it, `count` is a regular
    expression that must match equally often in it and in the own reading.

    Where the reading is invalid: `lost_lesson = "no_call"` sends nothing, and the world is lost;
    `"ask_without"` asks with the field empty and the texts of `without` in place of the stage's, so
    that what is estimated includes not writing.
    """

    field: Name
    cell: Name
    stage: int = Field(default=1, ge=1)
    source: Literal["own", "unrelated"] = "own"
    avoid: list[str] = Field(default_factory=list)
    count: str | None = None
    lost_lesson: Literal["no_call", "ask_without"] = "no_call"
    without: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _without_is_used(self) -> Self:
        if self.without and self.lost_lesson != "ask_without":
            raise ValueError('without needs lost_lesson = "ask_without"')
        return self

    @field_validator("count")
    @classmethod
    def _is_a_pattern(cls, count: str | None) -> str | None:
        try:
            re.compile(count or "")
        except re.error as error:
            raise ValueError(f"{count!r} is no regular expression: {error}") from None
        return count


class Cell(Strict):
    """One cell of a stage's factorial: extra prompt fields, and what it takes from before.

    `fields` values may name an item's field as `"@name"`; anything else is literal text. `texts`
    replace the stage's texts of the same name. `repeats` asks the same bytes again within the
    window. `levels` says which level of each declared factor the cell has; `again` names the cell
    whose bytes it asks once more, `probe` marks a question that is no choice of the study.
    """

    name: Name
    levels: dict[str, str] = Field(default_factory=dict)
    again: str = ""
    probe: bool = False
    fields: dict[str, str] = Field(default_factory=dict)
    texts: dict[str, str] = Field(default_factory=dict)
    take: list[Take] = Field(default_factory=list)
    repeats: int = Field(default=1, ge=1)
    prompt: PromptSpec | None = None
    readout: str | None = None
    options: dict[str, Any] | None = None


class Stage(Strict):
    """One stage: a readout, its prompt, its decoding, and the cells that are asked of each item.

    `texts` are parts of the prompt by name, each a template of its own over the item's and the
    cell's fields, what was taken, and the texts before it; the prompt shows them as fields.
    """

    readout: str
    options: dict[str, Any] = Field(default_factory=dict)
    prompt: PromptSpec
    decoding: Decoding = Decoding()
    texts: dict[str, str] = Field(default_factory=dict)
    cells: list[Cell] = Field(default_factory=list)

    @model_validator(mode="after")
    def _cells_differ(self) -> Self:
        names = [cell.name for cell in self.cells]
        if len(set(names)) != len(names):
            raise ValueError("two cells share a name")
        return self


Claim = Literal["present", "large", "negligible"]


def _sized(weight: Decimal) -> Decimal:
    if weight and not Decimal("0.000001") <= weight.copy_abs() <= 1_000_000:
        raise ValueError("a weight is 0, or from 0.000001 to 1000000 in size")
    return weight


Weight = Annotated[Decimal, AfterValidator(_sized)]


class ContrastSpec(Strict):
    """A contrast: signed weights over cells of the last stage, which add up to 0.

    `name` and `scope` (with `labels`) are what a registration chooses it by. `of` says in words
    what it compares, `note` what a reader must know of it; `descriptive` marks one that shows no
    fault whatever it is. `everywhere` asks for one of its claims at every endpoint;
    `beside` names the contrast of the same scope that is told with it in every headline.
    """

    name: Name
    scope: str = "all"
    labels: dict[str, str] = Field(default_factory=dict)
    weights: dict[str, Weight]
    margin: Decimal | None = Field(default=None, ge=0)
    claims: tuple[Claim, ...] = ("present", "large", "negligible")
    everywhere: Claim | None = None
    beside: str = ""
    of: str = ""
    note: str = ""
    descriptive: str = ""


class RelevantSpec(Strict):
    """The rule by which an endpoint is relevant: a contrast makes a claim there."""

    contrast: Name
    scope: str = "all"
    claim: Claim = "present"


class StudyDefaults(Strict):
    """What `judgeaudit init` writes into a new study's registration; no other command reads it.

    `gates` is TOML text with comments; empty leaves the usual example of a gate.
    """

    repeats: int = Field(default=2, ge=1)
    cluster: Literal["item", "task", "world"] = "task"
    analyses: list[str] = Field(default_factory=list)
    gates: str = ""


class ProtocolDocument(Strict):
    """A protocol as written. `stages` after validation always holds at least one stage.

    `factors` maps each factor to its levels, each level to its words.
    """

    name: Name
    version: str
    title: str = ""
    source: str = ""
    readout: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    prompt: PromptSpec | None = None
    decoding: Decoding = Decoding()
    stages: list[Stage] = Field(default_factory=list)
    factors: dict[str, dict[str, str]] = Field(default_factory=dict)
    contrasts: list[ContrastSpec] = Field(default_factory=list)
    relevant: RelevantSpec | None = None
    battery_defaults: dict[str, Any] = Field(default_factory=dict)
    study_defaults: StudyDefaults = StudyDefaults()

    @model_validator(mode="after")
    def _one_way_of_saying_it(self) -> Self:
        if bool(self.stages) == bool(self.readout and self.prompt):
            raise ValueError("give either `readout` with `prompt`, or `[[stages]]`")
        return self

    def all_stages(self) -> tuple[Stage, ...]:
        """Return the stages in order; a protocol without `[[stages]]` is one stage."""
        if self.stages:
            return tuple(self.stages)
        assert self.readout is not None
        assert self.prompt is not None
        return (
            Stage(
                readout=self.readout,
                options=self.options,
                prompt=self.prompt,
                decoding=self.decoding,
            ),
        )
