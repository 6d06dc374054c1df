"""Names of objects: what no name can do, in any store."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.checks import (
    check_name,
    check_prefix,
    check_ranges,
    finished_name,
    is_name,
)
from colonnade.manifests.store.local.files import temp_name

PARTS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
NAMES = st.lists(PARTS, min_size=1, max_size=8).map("/".join)
NEARLY = st.text(alphabet="aB7_-./é\n\0 ~:\\", max_size=12)


@given(NEARLY)
@example("../a")
@example("/a")
@example("a//b")
@example("a\n")
@example("a/" * 8 + "a")
@example("a" * 201)
def test_a_name_stays_inside_its_database_and_is_not_hidden(text: str) -> None:
    if not is_name(text):
        with pytest.raises(InvalidInputError, match="is not an object name"):
            check_name(text)
        return
    check_name(text)
    parts = text.split("/")
    assert len(parts) <= 8
    assert all(0 < len(part) <= 200 and part[0] not in ".-" for part in parts)
    assert re.fullmatch(r"[A-Za-z0-9_./-]+", text)


@given(NAMES)
def test_an_unfinished_object_is_known_by_its_name_and_is_no_object(name: str) -> None:
    folder, slash, leaf = name.rpartition("/")
    unfinished = f"{folder}{slash}{temp_name(leaf)}"
    assert finished_name(unfinished) == name
    assert not is_name(unfinished)
    assert finished_name(name) is None


@given(NAMES)
def test_a_folder_and_the_beginning_of_a_name_are_prefixes(name: str) -> None:
    for prefix in ("", name, f"{name}/"):
        check_prefix(prefix)
    for prefix in ("/", f"/{name}", f"{name}//", f"../{name}"):
        with pytest.raises(InvalidInputError):
            check_prefix(prefix)


@pytest.mark.parametrize("wrong", [(-1, 1), (0, -1)])
def test_ranges_are_not_negative(wrong: tuple[int, int]) -> None:
    check_ranges([(0, 0), (5, 1)])
    with pytest.raises(InvalidInputError, match="is not a range of bytes"):
        check_ranges([(0, 1), wrong])
