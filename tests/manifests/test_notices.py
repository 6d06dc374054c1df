"""A sentence for a user reaches whoever listens, or else becomes a warning."""

from __future__ import annotations

import warnings

import pytest

from colonnade.manifests.notices import listening, notice


def test_a_notice_is_a_warning_where_nobody_listens() -> None:
    with pytest.warns(UserWarning, match="It has no effect"):
        notice("It has no effect.")


def test_a_listener_gets_each_notice_once_and_nobody_is_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with listening() as outer:
            notice("a")
            with listening() as inner:
                notice("b")
                notice("b")
            notice("a")
    assert (outer, inner) == (["a"], ["b"])
