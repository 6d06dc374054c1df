"""Libraries that Colonnade is compared with, without Spark, in a folder of their own.

`python tests/setup/lakes.py` installs delta-rs, PyIceberg, Lance and DataFusion, 230 MB, once, and
prints the folder for `PYTHONPATH`. `lakes.lock` names exact versions, with hashes.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.server import KEEP, kept, run

LOCK = Path(__file__).with_name("lakes.lock")


def installed() -> Path:
    """The folder of the libraries; made where it is missing, while other processes wait."""
    python = f"{platform.python_version()}-{platform.machine()}".encode()
    name = hashlib.sha256(LOCK.read_bytes() + python).hexdigest()[:16]

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as made:
            place = Path(made, "lakes")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            exact = ["--no-deps", "--require-hashes", "--requirement", LOCK]
            run([*pip, *exact, "--target", place], "the libraries could not be installed")
            place.rename(folder)

    return kept(f"lakes-{name}", make)


if __name__ == "__main__":
    print(installed())
