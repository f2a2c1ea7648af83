"""What tests of the log share: the synthetic study of the damaged specimens, and lossy files."""

import importlib.util
from pathlib import Path

import pytest

from judgeaudit.evidence.log.files import DiskFile

MAKE = Path(__file__).parents[2] / "damaged" / "make.py"


@pytest.fixture(scope="session")
def kit():
    """The script that makes the specimens, as a module: plan, reservation, attempt, derive."""
    spec = importlib.util.spec_from_file_location("make_specimens", MAKE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LossyFile(DiskFile):
    """A real file that can lose, as a cut of power does, what came after the last fsync."""

    def __init__(self, path):
        super().__init__(path)
        self.path, self.syncs, self.fail = path, 0, None
        self.durable = path.stat().st_size

    def sync(self):
        size = self.path.stat().st_size
        if self.fail:
            raise OSError(5, self.fail)
        super().sync()
        self.syncs, self.durable = self.syncs + 1, size

    def lose(self, kept=0):
        """Cut the file to what was durable and `kept` bytes more."""
        self.close()
        with self.path.open("r+b") as stream:
            stream.truncate(min(self.durable + kept, self.path.stat().st_size))


@pytest.fixture
def lossy():
    """An opener of `LossyFile`s that keeps them in `files`."""

    def opener(path):
        opener.files.append(LossyFile(path))
        return opener.files[-1]

    opener.files = []
    return opener
