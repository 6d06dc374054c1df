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


@pytest.mark.parametrize(
    "compute",
    [lambda a: a + 1, lambda a: 1 + a, lambda a: 2 * a, lambda a: a / a, lambda a: a % 2,
     lambda a: -a, abs, lambda a: a - 1 > 3],
)  # fmt: skip
def test_a_column_that_is_to_compute_says_how_that_is_written(compute: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"as SQL text, such as 'a\.b \+ 1'"):
        compute(col("a.b"))


def test_comparing_with_none_is_refused_because_it_never_matches() -> None:
    with pytest.raises(InvalidInputError, match="is_null"):
        _ = col("a") == None  # noqa: E711


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``"])
def test_an_invalid_column_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError):
        col(name)
