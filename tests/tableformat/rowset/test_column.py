"""A column is stored by its id, and its type decides the order of its values."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.column import Order, check_names, column_of


@pytest.mark.parametrize(
    ("type_name", "order"),
    [
        ("long", Order.INTEGER),
        ("boolean", Order.INTEGER),
        ("date", Order.INTEGER),
        ("decimal(18,2)", Order.INTEGER),
        ("decimal(19,2)", Order.DECIMAL),
        ("float", Order.FLOAT),
        ("string", Order.STRING),
        ("char(3)", Order.STRING),
        ("string collate UNICODE_CI", Order.NONE),
        ("binary", Order.BINARY),
        ("variant", Order.NONE),
    ],
)
def test_the_type_decides_the_order(type_name: str, order: Order) -> None:
    stored = column_of(SchemaField(id=7, name="c", type=type_name))
    assert (stored.id, stored.name, stored.order) == (7, "c", order)
    assert bool(stored.bound_prefix) is (order is not Order.NONE)


def test_names_of_columns_are_a_list_of_texts() -> None:
    assert check_names(["a", "b"], "on") == check_names(iter(("a", "b")), "on") == ("a", "b")
    for wrong in ("a", b"a", 1, None, ["a", 1], [["a"]]):
        with pytest.raises(InvalidInputError, match="on must be a list of column names"):
            check_names(wrong, "on")  # type: ignore[arg-type]
