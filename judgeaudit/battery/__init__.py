"""Batteries: frozen sets of items, built from a seed or read from a person's own rows."""

from judgeaudit.battery.catalogue import KINDS, build_battery
from judgeaudit.battery.items import Battery, item_to_json, items_from_bytes, items_to_bytes
from judgeaudit.battery.kind import BatteryKind, Finding
from judgeaudit.battery.lint import lint

__all__ = [
    "KINDS",
    "Battery",
    "BatteryKind",
    "Finding",
    "build_battery",
    "item_to_json",
    "items_from_bytes",
    "items_to_bytes",
    "lint",
]
