"""Ways to write an object, and the files that they leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from colonnade.manifests.store import LocalStore

WRITES: dict[str, Callable[[LocalStore], object]] = {
    "put_if_absent": lambda store: store.put_if_absent("t/a", b"x" * 9000),
    "put": lambda store: store.put("t/a", b"x" * 9000, sync=True),
    "create": lambda store: stream(store, "t/a"),
}


def stream(store: LocalStore, name: str) -> None:
    with store.create(name, sync=True) as writer:
        writer.write(b"x" * 9000)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
