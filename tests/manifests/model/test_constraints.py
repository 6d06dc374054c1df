"""A constraint finds its columns, also after their types widened."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from colonnade.manifests.model.constraints import CheckConstraint, find_constraint
from colonnade.manifests.model.schema import SchemaField, TableSchema

POSITIVE = CheckConstraint(name="positive", sql="x > 0", columns=(2,))


def test_a_constraint_reads_a_column_by_each_id_that_it_had() -> None:
    wide = SchemaField(id=2, name="x", type="long")
    schema = TableSchema(fields=(SchemaField(id=1, name="id", type="long"), wide))
    assert POSITIVE.fields(schema) == (wide,)


def test_a_name_is_found_in_any_case() -> None:
    assert find_constraint([POSITIVE], "POSITIVE") is POSITIVE
    assert find_constraint([POSITIVE], "negative") is None


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"name": "x" * 256}, {"sql": ""}, {"columns": (0,)}, {"other": 1}]
)
def test_a_malformed_constraint_is_not_read(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CheckConstraint.model_validate({**POSITIVE.model_dump(), **wrong})
