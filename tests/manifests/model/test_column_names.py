"""A name of a column can be written in a text, whatever the name is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.column_names import (
    begun_name,
    quoted_name,
    split_list,
    split_names,
    unquoted,
)

NAMES = st.text(st.sampled_from(" `,ab()\t"), min_size=1, max_size=8)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@given(NAMES)
def test_a_quoted_name_is_the_name(name: str) -> None:
    assert unquoted(f" {quoted(name)} ") == name


@given(st.lists(NAMES, max_size=4))
def test_a_list_of_quoted_names_is_these_names(names: list[str]) -> None:
    assert split_names(" , ".join(map(quoted, names))) == tuple(names)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_names_that_are_completed_one_after_the_other_make_their_list(names: list[str]) -> None:
    text = ",".join(map(quoted_name, names))
    assert split_names(text) == tuple(names)
    assert begun_name(text) == (text.removesuffix(quoted_name(names[-1])), quoted_name(names[-1]))


def test_only_names_with_signs_are_quoted() -> None:
    assert [*map(quoted_name, ["day", "first name", "a,b"])] == ["day", "first name", "`a,b`"]
    assert begun_name("`a,b`,`c,d") == ("`a,b`,", "`c,d")


def test_plain_names_lose_the_blanks_around_them() -> None:
    assert split_names(" day,amount , ") == ("day", "amount")
    assert split_list("days(ts), bucket(16, id),`a, b` desc") == (
        *("days(ts)", "bucket(16, id)", "`a, b` desc"),
    )
    assert split_list("a (`,b") == ("a (`", "b")
