"""A predicate is the same after it travelled as JSON, and other JSON is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.expressions import Column, Constant, StartsWith
from colonnade.tableformat.predicate.json_form import from_json, to_json
from tests.tableformat.predicate import oracle

TYPES = {f"c{number}": name for number, name in enumerate(oracle.TYPES)}


@given(st.integers(0, 2**32))
def test_every_predicate_is_the_same_after_it_was_written_as_text(seed: int) -> None:
    predicate = oracle.random_predicate(random.Random(seed), TYPES)
    found = from_json(json.loads(json.dumps(to_json(predicate))))
    assert repr(found) == repr(predicate), "NaN does not equal itself, and -0.0 equals 0.0"


@pytest.mark.parametrize(
    "predicate",
    [Constant(None), Constant(True), StartsWith(Column(("a", "b")), "x\0'\U0001f600")],
)
def test_constants_prefixes_and_nested_columns_are_kept(predicate: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(predicate)))) == predicate


@given(st.integers(0, 2**32), st.data())
def test_a_form_with_a_key_too_few_or_too_many_is_refused(seed: int, data: st.DataObject) -> None:
    form = to_json(oracle.random_predicate(random.Random(seed), TYPES))
    key = data.draw(st.sampled_from([*form, "more"]))
    form = {**form, "more": 1} if key == "more" else {k: v for k, v in form.items() if k != key}
    with pytest.raises(InvalidInputError, match="in JSON"):
        from_json(form)


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        "true",
        {"op": 1},
        {"op": "xor", "parts": []},
        {"op": "and", "parts": {}},
        {"op": "and", "parts": ["true"]},
        {"op": "=", "left": [], "right": "integer:1"},
        {"op": "=", "left": ["a", ""], "right": "integer:1"},
        {"op": "=", "left": ["a"], "right": "number:1"},
        {"op": "in", "column": ["a"], "values": [1]},
        {"op": "constant", "value": "true"},
    ],
)
def test_json_that_is_not_a_predicate_is_refused(form: Any) -> None:
    with pytest.raises(InvalidInputError):
        from_json(form)
