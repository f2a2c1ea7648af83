"""The settings in which decision worlds take place, and the names that their tools carry.

Names are invented, neutral, begin with different letters, and none is part of another or of a
setting's text. Settings are everyday batch work in which either tool may be used for any run, and
a run succeeds or fails at once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Domain:
    """A setting; `run` is one use of a tool, `success` and `failure` are how it ends."""

    name: str
    setting: str
    run: str
    success: str
    failure: str


DOMAINS = (
    Domain(
        "newspapers",
        "A library puts old newspapers online. Two text-recognition tools can read a page.",
        "page",
        "the page was read without an error",
        "the page came back unreadable",
    ),
    Domain(
        "invoices",
        "An office files supplier invoices. Two extraction tools can pull the totals out of one.",
        "invoice",
        "the totals matched the paper copy",
        "the totals did not match the paper copy",
    ),
    Domain(
        "seedlings",
        "A nursery photographs its seedlings. Two counting tools can count the plants in a tray.",
        "tray",
        "the count agreed with the hand count",
        "the count was off",
    ),
    Domain(
        "subtitles",
        "A studio adds subtitles to lectures. Two alignment tools can time the lines of a clip.",
        "clip",
        "every line appeared in time",
        "the lines drifted out of time",
    ),
    Domain(
        "parcels",
        "A depot sorts parcels by photograph. Two label readers can find the postcode on a parcel.",
        "parcel",
        "the parcel went to the right bay",
        "the parcel went to a wrong bay",
    ),
    Domain(
        "backups",
        "A clinic copies its records at night. Two transfer tools can move the nightly archive.",
        "night",
        "the archive arrived whole",
        "the archive arrived damaged",
    ),
    Domain(
        "recipes",
        "A publisher converts recipes to metric units. Two conversion tools can rewrite a recipe.",
        "recipe",
        "all amounts were right",
        "an amount was wrong",
    ),
    Domain(
        "tides",
        "A harbour posts tide tables. Two forecast tools can predict the next high water.",
        "tide",
        "the prediction was within the allowed minutes",
        "the prediction missed by more than the allowed minutes",
    ),
    Domain(
        "bookings",
        "A hostel merges bookings from two calendars. Two matching tools can merge a day.",
        "day",
        "no bed was given out twice",
        "a bed was given out twice",
    ),
    Domain(
        "maps",
        "A council redraws its footpath maps. Two tracing tools can trace a path from the air.",
        "path",
        "the path matched the survey",
        "the path left the surveyed line",
    ),
    Domain(
        "translations",
        "A museum translates its wall texts. Two translation tools can draft a text.",
        "text",
        "the curator took the draft as it was",
        "the curator sent the draft back",
    ),
    Domain(
        "meters",
        "A utility reads water meters from photographs. Two reading tools can read a dial.",
        "dial",
        "the reading was confirmed",
        "the reading was rejected",
    ),
    Domain(
        "builds",
        "A team compiles a large program. Two build services can take a job.",
        "job",
        "the job finished",
        "the job broke off",
    ),
    Domain(
        "birdsong",
        "A reserve listens for rare birds. Two classifiers can name the species in a recording.",
        "recording",
        "the name was confirmed by the warden",
        "the warden heard another species",
    ),
    Domain(
        "payrolls",
        "A theatre pays its casual staff weekly. Two planning tools can draw up a week's hours.",
        "week",
        "the hours were approved unchanged",
        "the hours had to be corrected",
    ),
    Domain(
        "samples",
        "A laboratory labels soil samples. Two printing tools can print a tray's labels.",
        "batch",
        "all labels could be scanned",
        "some labels could not be scanned",
    ),
)

NAMES = (
    "Arvo",
    "Belden",
    "Corvin",
    "Daleth",
    "Ersby",
    "Fennick",
    "Garrow",
    "Halden",
    "Istra",
    "Jorvin",
    "Kelso",
    "Lorne",
    "Marlow",
    "Norden",
    "Orwen",
    "Pelham",
    "Quarto",
    "Rivel",
    "Selby",
    "Tessin",
    "Ulmer",
    "Varley",
    "Wexham",
    "Xandor",
    "Yarrow",
    "Zelnik",
)
