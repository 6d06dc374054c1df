"""Predicates that are built in Python: what is refused where they are built."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate import (
    col,
)


@pytest.mark.parametrize(
    "combine",
    [
        lambda: (col("a") > 1) and col("b"),
        lambda: col("a") or col("b"),
        lambda: not col("a"),
        lambda: 1 < col("a") < 3,
    ],
)
def test_python_keywords_on_predicates_are_refused(combine: Any) -> None:
    with pytest.raises(TypeError, match="&, | and ~".replace("|", r"\|")):
        combine()


def test_comparing_with_none_is_refused_because_it_never_matches() -> None:
    with pytest.raises(InvalidInputError, match="is_null"):
        _ = col("a") == None  # noqa: E711


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``"])
def test_an_invalid_column_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError):
        col(name)
