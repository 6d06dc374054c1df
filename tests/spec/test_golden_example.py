"""A small table from its calls to its bytes, which pages of the specification print.

`docs/a-commit.md` has the calls. `python -m tests.spec.make_golden` makes the database from them,
and fills the pages.
Specification: docs/spec/reading.md
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import colonnade
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import unseal
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import LocalStore
from tests.pages import blocks
from tests.spec.golden_logs import START_MS, contents, copy, counted_ids
from tests.spec.shown import PAGES, dump, fill, names_in, sealed

GOLDEN = Path(__file__).parent / "golden" / "example"
CALLS = PAGES[0]


@contextmanager
def counted_time() -> Iterator[None]:
    """Each look at the clock is a second after the one before."""
    seconds = itertools.count(START_MS * 10**6, 10**9)
    with patch("time.time_ns", lambda: next(seconds)):
        yield


@contextmanager
def noted(notes: list[str]) -> Iterator[None]:
    """Note each request to the store, with what comes of it."""

    def noting(verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted_call(store: LocalStore, name: str, *given: Any, **more: Any) -> Any:
            try:
                done = call(store, name, *given, **more)
            except NotFoundError:
                notes.append(f"{verb:4} {name:58} absent")
                raise
            told = done.value if verb == "PUT" else f"{len(b''.join(done))} bytes"
            notes.append(f"{verb:4} {name:58} {told}")
            return done

        return noted_call

    def get(store: LocalStore, name: str, **more: Any) -> list[bytes]:
        return [whole(store, name, **more)]

    whole = LocalStore.get
    with ExitStack() as stack:
        for verb, name, call in (
            ("GET", "get_ranges", LocalStore.get_ranges),
            ("PUT", "put_if_absent", LocalStore.put_if_absent),
        ):
            stack.enter_context(patch.object(LocalStore, name, noting(verb, call)))
        noted_get = noting("GET", get)
        stack.enter_context(
            patch.object(LocalStore, "get", lambda *given, **more: noted_get(*given, **more)[0])
        )
        yield


@cache
def written() -> tuple[dict[str, bytes], dict[str, str]]:
    """The database as the calls of the page and a checkpoint make it today.

    Also the requests of each call, by the name of its part of the page.
    """
    before, requests = os.getcwd(), dict[str, str]()
    names: dict[str, object] = {"colonnade": colonnade}
    with tempfile.TemporaryDirectory() as folder, counted_ids(), counted_time():
        os.chdir(folder)
        try:
            for title, block in zip(("table", "append", "DELETE"), blocks(CALLS), strict=True):
                notes: list[str] = []
                with noted(notes):
                    exec(compile(block.text, CALLS, "exec"), names)
                requests[f"requests of the {title}"] = "".join(f"{each}\n" for each in notes)
        finally:
            os.chdir(before)
        store = LocalStore(f"{folder}/orders")
        log = Log(store)
        log.try_checkpoint(log.reader.read_head())
        return contents(store), requests


def golden() -> dict[str, bytes]:
    """The database as an earlier writer left it."""
    return contents(LocalStore(str(GOLDEN)))


def parts(files: dict[str, bytes]) -> dict[str, str]:
    """What pages may show of a database, by name."""
    hint = json.loads(unseal(files[HINT], HINT))
    root = files[checkpoint_name(hint["root"])]
    epochs = [files[epoch_name(number)] for number in range(4)]
    (table,) = json.loads(unseal(root, "root"))["tables"]
    segment = files[checkpoint_name(table["segments"][0]["segment"]["object"])]
    (added,) = json.loads(unseal(epochs[2], "epoch"))["ops"]
    (deleted,) = json.loads(unseal(epochs[3], "epoch"))["ops"]
    rowset = base64.b64decode(added["rowset"]["data"])
    footer = rowset[-added["rowset"]["footer"]["length"] :]
    return {
        **{f"epoch {number}": sealed(data) for number, data in enumerate(epochs)},
        "hint": sealed(files[HINT]),
        "root": sealed(root),
        "segment": sealed(segment),
        "footer": sealed(footer),
        "vector": dump(base64.b64decode(deleted["vector"]["data"])),
        "files": "".join(f"{len(data):5} {name}\n" for name, data in sorted(files.items())),
    }


def make() -> None:
    """Make the database and the pages anew."""
    files, requests = written()
    shutil.rmtree(GOLDEN, ignore_errors=True)
    copy(files, LocalStore(str(GOLDEN)))
    for page in PAGES:
        page.write_text(fill(page.read_text("utf-8"), {**parts(files), **requests}), "utf-8")


def test_the_calls_of_the_page_make_the_same_bytes_again() -> None:
    assert written()[0] == golden()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_bytes_of_the_database(page: Path) -> None:
    text = page.read_text("utf-8")
    assert names_in(text)
    assert fill(text, {**parts(golden()), **written()[1]}) == text


def test_the_database_has_the_rows_of_the_page() -> None:
    table = colonnade.open(GOLDEN)
    assert table.scan().to_arrow().to_pylist() == [
        {"id": 1, "item": "cup"},
        {"id": 3, "item": None},
    ]
    assert table.scan(epoch=2).to_arrow().num_rows == 3
