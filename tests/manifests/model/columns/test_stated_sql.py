"""Stored text shows present names, and places that contradict it are refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from colonnade.manifests.model.columns.stated_sql import present_text
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.schema import NameReference, SchemaField, TableSchema

AT = NameReference(offset=0, length=1, field=1)
LATER = NameReference(offset=4, length=3, field=2)


def columns(*names: str) -> TableSchema:
    fields = (SchemaField(id=at, name=name, type="int") for at, name in enumerate(names, 1))
    return TableSchema(fields=tuple(fields))


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("a", "b"), "A < `b`"),
        (("A", "B"), "A < `b`"),
        (("x", "b"), "`x` < `b`"),
        (("b", "a`"), "`b` < `a```"),
        (("a",), "A < `b`"),
    ],
)
def test_a_name_that_has_changed_is_put_in_the_place_of_the_stated_one(
    names: tuple[str, ...], shown: str
) -> None:
    assert present_text("A < `b`", (AT, LATER), columns(*names)) == shown
    assert present_text("A < `b`", (), columns(*names)) == "A < `b`"


@pytest.mark.parametrize("name", ["ß", "\u017fs", "s\u017f", "ẞ"])
def test_a_name_that_spark_would_not_find_is_replaced(name: str) -> None:
    """Python calls these names equal to `ss` in another case, and Spark does not."""
    at = NameReference(offset=0, length=2, field=1)
    assert present_text("SS > 0", (at,), columns(name)) == f"`{name}` > 0"
    assert present_text("SS > 0", (at,), columns("Ss")) == "SS > 0"


@pytest.mark.parametrize("places", [(LATER, AT), (AT, AT)])
def test_places_ascend_and_do_not_overlap(places: tuple[NameReference, ...]) -> None:
    with pytest.raises(ValidationError, match="ascend"):
        CheckConstraint(name="c", sql="A < `b`", columns=(1, 2), references=places)
