"""Version 1 of the format is frozen: what was stored once is read as it was stored.

Spec: docs/compatibility.md#the-stored-format
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
HASHES = GOLDEN / "hashes.txt"


def pinned() -> dict[str, str]:
    """The hash of each golden folder, by its name."""
    lines = (line.split() for line in HASHES.read_text().splitlines())
    return {name: digest for digest, name in lines}


def hashed(folder: Path) -> str:
    """The hash of the names and bytes of all files of a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()


@pytest.mark.parametrize("name", pinned())
def test_a_golden_folder_is_what_it_was(name: str) -> None:
    assert (GOLDEN / name).is_dir(), f"Golden folder {name!r} is gone; bring it back: it is frozen."
    assert hashed(GOLDEN / name) == pinned()[name], (
        f"Golden folder {name!r} has changed, and format 1 is frozen. Take the change back: new"
        " bytes need a new feature or format version that older readers refuse, and golden files of"
        " a new name (docs/compatibility.md)."
    )


def test_every_golden_folder_has_a_hash() -> None:
    new = {path.name for path in GOLDEN.iterdir() if path.is_dir()} - pinned().keys()
    lines = "".join(f"\n{hashed(GOLDEN / name)} {name}" for name in sorted(new))
    assert not new, f"Add to {HASHES.name}, once their bytes are as they shall stay:{lines}"


def test_a_hash_depends_on_each_name_and_each_byte(tmp_path: Path) -> None:
    """Files that a checkout adds or leaves out, or whose line ends it changes, are found."""
    found = set[str]()
    for data in (b"a\n", b"a\r\n", b""):
        for name in ("x/1.json", "x/2.json"):
            folder = tmp_path / str(len(found))
            (folder / "x").mkdir(parents=True)
            (folder / name).write_bytes(data)
            found.add(hashed(folder))
    assert len(found) == 6
