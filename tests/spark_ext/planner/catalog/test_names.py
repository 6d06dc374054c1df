"""Names of databases and tables lead to what exists in whatever case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.spark_ext.planner.catalog import databases, names

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Databases `Shop` and `empty`; `Shop` has the tables `Orders`, `a` and `A`."""
    shop = colonnade.create_database(tmp_path / "Shop")
    for name in ("Orders", "a", "A"):
        shop.create_table(name, SCHEMA)
    colonnade.create_database(tmp_path / "empty")
    return tmp_path


def table(warehouse: Path, name: str) -> Any:
    return names.table_in_its_case({"path": str(warehouse / "Shop"), "name": name})["name"]


def database(warehouse: Path, name: str) -> Any:
    return names.database_in_its_case({"warehouse": str(warehouse), "name": name})["name"]


def test_a_name_leads_to_what_exists_and_an_exact_name_comes_first(warehouse: Path) -> None:
    assert [table(warehouse, name) for name in ("orders", "ORDERS", "Orders")] == ["Orders"] * 3
    assert [table(warehouse, name) for name in ("a", "A", "none")] == ["a", "A", "none"]
    assert [database(warehouse, name) for name in ("SHOP", "Empty", "x")] == ["Shop", "empty", "x"]


def test_a_name_that_could_be_several_is_refused(warehouse: Path) -> None:
    colonnade.open_database(warehouse / "Shop").create_table("ORDERS", SCHEMA)
    with pytest.raises(InvalidInputError, match="'orders' could be any of ORDERS, Orders"):
        table(warehouse, "orders")


def test_a_place_that_is_no_database_leaves_a_name_as_it_is(warehouse: Path) -> None:
    colonnade.create(warehouse / "lone", SCHEMA)
    for path in ("lone", "missing", "Shop/Orders"):
        found = names.table_in_its_case({"path": str(warehouse / path), "name": "History"})
        assert found == {"name": "History"}
    missing = {"warehouse": str(warehouse / "missing"), "name": "Shop"}
    assert names.database_in_its_case(missing) == {"name": "Shop"}


def test_a_new_name_of_a_table_may_change_its_case_and_not_meet_another_one(
    warehouse: Path,
) -> None:
    def rename(old: str, new: str, any_case: bool = False) -> None:
        path = str(warehouse / "Shop" / old)
        databases.rename_table({"path": path, "name": new, "any_case": any_case})

    rename("Orders", "oRDERS")
    with pytest.raises(AlreadyExistsError, match="'oRDERS' exists already, and 'ORDERS' differs"):
        rename("a", "ORDERS")
    rename("a", "ORDERS", any_case=True)
    assert sorted(colonnade.open_database(warehouse / "Shop").tables()) == ["A", "ORDERS", "oRDERS"]


@given(st.lists(st.text("aAbB", min_size=1, max_size=3), unique=True), st.text("aAbB", max_size=3))
def test_the_name_that_is_found_is_the_only_one_of_its_letters_or_the_exact_one(
    known: list[str], name: str
) -> None:
    alike = [each for each in known if each.casefold() == name.casefold()]
    if name not in alike and len(alike) > 1:
        with pytest.raises(InvalidInputError):
            names._in_its_case(name, known)
    else:
        found = names._in_its_case(name, known)
        assert found == (name if name in alike or not alike else alike[0])
