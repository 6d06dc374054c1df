"""The property for invalid text has two values."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.text_policy import PROPERTY, check_text_policy, text_policy


def test_invalid_text_is_refused_unless_the_property_says_replace() -> None:
    assert text_policy({}) == text_policy({PROPERTY: "refuse"}) == "refuse"
    assert text_policy({PROPERTY: "replace"}) == "replace"
    # An earlier version may have stored any value.
    assert text_policy({PROPERTY: "Replace"}) == "refuse"


def test_another_value_is_refused_by_name() -> None:
    check_text_policy({})
    check_text_policy({PROPERTY: "replace"})
    with pytest.raises(InvalidInputError, match="'invalid-text' must be .*, not 'Replace'"):
        check_text_policy({PROPERTY: "Replace"})
