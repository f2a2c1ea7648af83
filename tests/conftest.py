"""Fixtures that every room's tests share."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples every day, and no deadline: the machine that runs them is shared.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("steady")


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed: a test gives the same numbers every day."""
    return np.random.default_rng(20261129)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data that `JUDGEAUDIT_SHARED` names."""
    return Path(os.environ["JUDGEAUDIT_SHARED"])


def pytest_collection_modifyitems(config, items):
    """Skip what needs data or servers that are not here, saying which switch brings them."""
    have_shared = Path(os.environ.get("JUDGEAUDIT_SHARED", "/nonexistent")).is_dir()
    have_time = os.environ.get("JUDGEAUDIT_SLOW") == "1"
    have_servers = os.environ.get("JUDGEAUDIT_INTEGRATION") == "1"
    for item in items:
        if not have_time and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow, and JUDGEAUDIT_SLOW is not 1"))
        if not have_shared and item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason="JUDGEAUDIT_SHARED names no folder"))
        if not have_servers and item.get_closest_marker("integration"):
            item.add_marker(pytest.mark.skip(reason="JUDGEAUDIT_INTEGRATION is not 1"))
