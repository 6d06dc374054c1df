"""What a table is, is one value: by keywords, in a spec, alone or within a transaction."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import IdentityColumn, InvalidInputError, TableSpec
from colonnade.tableformat.table.design.spec import SpecKeywords

SCHEMA = pa.schema([("id", pa.int64()), ("day", pa.date32()), ("note", pa.string())])
RULES: dict[str, Any] = {
    "primary_key": ["id", "day"],
    "static": ["note"],
    "partition_key": ["id"],
    "sort_key": ["day desc"],
    "partition_by": ["bucket(4, id)"],
    "constraints": {"positive": "id > 0"},
    "properties": {"onDuplicate": "merge"},
    "comment": "words",
}


def test_keywords_are_the_fields_of_a_spec_beside_its_columns() -> None:
    names = [each.name for each in fields(TableSpec)]
    assert names == ["columns", *SpecKeywords.__annotations__]


@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        {"identity": {"id": IdentityColumn(start=5)}},
        {"generated": {"note": "CAST(id AS STRING)"}},
    ],
)
def test_every_road_makes_the_same_table_of_a_spec_and_of_keywords(
    rules: dict[str, Any], tmp_path: Path
) -> None:
    spec, db = TableSpec(SCHEMA, **rules), colonnade.create_database(tmp_path / "db")
    colonnade.create(tmp_path / "lone", spec)
    colonnade.create(tmp_path / "db" / "placed", SCHEMA, **rules)
    db.create_table("keywords", SCHEMA, **rules)
    db.create_table("spec", spec)
    with db.transaction() as tx:
        tx.create("tx_keywords", SCHEMA, **rules)
        tx.create("tx_spec", spec)
    made = [colonnade.open(tmp_path / "lone")._state]
    made += [db[name]._state for name in db.tables() if "#" not in name]
    assert len(made) == 6
    for each in made[1:]:
        for part in ("schema", "sort_orders", "partition_layouts", "primary_key", "partition_key"):
            assert getattr(each, part) == getattr(made[0], part), part
        for part in ("constraints", "properties", "comment"):
            assert getattr(each, part) == getattr(made[0], part), part


@pytest.mark.parametrize("name", [each.name for each in fields(TableSpec)])
def test_a_list_or_dict_that_changes_later_does_not_change_the_spec(name: str) -> None:
    names, by_name = ["id"], {"id": "int"}
    of_list, of_dict = (TableSpec(**{"columns": SCHEMA, name: each}) for each in (names, by_name))
    names.append("day")
    by_name["day"] = "date"
    assert (getattr(of_list, name), getattr(of_dict, name)) == (["id"], {"id": "int"})


def test_a_spec_may_have_rows_in_place_of_columns_and_creates_any_number_of_tables(
    tmp_path: Path,
) -> None:
    spec = TableSpec([{"id": 1}, {"id": 2}], primary_key=["id"])
    for name in ("a", "b"):
        assert colonnade.create(tmp_path / name, spec).scan().to_arrow()["id"].to_pylist() == [1, 2]
    other = replace(spec, columns={"id": "int"})
    with pytest.raises(InvalidInputError, match="more than one new row has the key id = 3"):
        colonnade.create(tmp_path / "c", other, data=[{"id": 3}, {"id": 3}])


def test_what_a_spec_does_not_know_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    spec = TableSpec(SCHEMA)
    with pytest.raises(InvalidInputError, match="'t' is created from a TableSpec, and with sort_"):
        colonnade.create(tmp_path / "t", spec, sort_key=["id"])
    with pytest.raises(TypeError, match="sortkey"):
        colonnade.create(tmp_path / "t", SCHEMA, sortkey=["id"])  # type: ignore[call-arg]
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("rules", ["properties", "identity", "generated", "constraints"])
@pytest.mark.parametrize("wrong", [0, "", [], ()])
def test_rules_of_another_type_are_refused_also_if_they_are_empty(
    rules: str, wrong: object, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match=rf"(?i){rules} must be a dict"):
        colonnade.create(tmp_path / "t", TableSpec(SCHEMA, **{rules: wrong}))  # type: ignore[arg-type]
    assert not (tmp_path / "t").exists()
