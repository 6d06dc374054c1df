"""Properties name columns, and follow them."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade.manifests.errors import (
    InvalidInputError,
)
from colonnade.tableformat.table.alteration import (
    AlterProperties,
    DropColumn,
    RenameColumn,
)
from tests.tableformat.table.alteration.points import SCHEMA


def test_a_property_that_names_a_column_follows_it(tmp_path: Path) -> None:
    on = "bloom-filter-enabled.column."
    table = colonnade.create(tmp_path / "t", SCHEMA, properties={on + "ID": "true", "owner": "me"})
    with pytest.raises(
        InvalidInputError, match="'point' of type struct.* cannot have Bloom filters"
    ):
        table.alter(AlterProperties({on + "point": "true"}))
    table.alter(AlterProperties({on + "name": "true"}), RenameColumn(("id",), "key"))
    assert table._state.properties == {on + "key": "true", on + "name": "true", "owner": "me"}
    table.alter(DropColumn(("name",)), RenameColumn(("key",), "id"))
    assert table._state.properties == {on + "id": "true", "owner": "me"}
    table.alter(AlterProperties(remove=(on + "id",)), RenameColumn(("id",), "key"))
    assert table._state.properties == {"owner": "me"}


def test_properties_to_remove_may_be_a_list(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, properties={"owner": "me", "team": "sales"})
    table.alter(AlterProperties(remove=["owner", "never set"]))  # type: ignore[arg-type]
    assert table._state.properties == {"team": "sales"}
