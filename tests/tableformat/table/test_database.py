"""Databases hold tables by name, and say what cannot be a database."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.log import dropping
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.removed_folder import _moved_name
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.location import locate
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_a_first_write_whose_place_became_a_database_is_refused(tmp_path: Path) -> None:
    location = locate(tmp_path / "shop")
    job = plan_write(location, None, "append", create=new_table("shop", as_table_schema(SCHEMA)))
    entries = write_rows(job, rows(*range(100_000)).to_batches())
    assert entries[0].place != "inline"
    database = colonnade.create_database(tmp_path / "shop")
    with pytest.raises(colonnade.ConflictError, match="shop/shop"):
        commit_written(job, entries)
    assert database.tables() == []


def test_a_path_that_is_not_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(colonnade.NotFoundError, match="not a Colonnade database or table"):
        colonnade.open(tmp_path / "nothing")


def test_a_table_cannot_be_created_at_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trips.parquet"
    file.write_bytes(b"PAR1")
    for path in (file, f"file://{file}", file / "below"):
        for call in (colonnade.open, colonnade.open_database, colonnade.create_database):
            with pytest.raises(colonnade.NotFoundError, match="parquet is a file, not a folder"):
                call(path)
        with pytest.raises(colonnade.NotFoundError, match="parquet is a file, not a folder"):
            colonnade.create(path, SCHEMA)
    assert file.read_bytes() == b"PAR1"


@pytest.mark.parametrize("place", ["alone", "db/t"])
def test_a_database_that_lost_its_first_epoch_is_damaged(place: str, tmp_path: Path) -> None:
    if "/" in place:
        colonnade.create_database(tmp_path / "db")
    colonnade.create(tmp_path / place, SCHEMA).append(rows(1))
    first = tmp_path / place.split("/")[0] / epoch_name(0)
    first.unlink()
    before = set(tmp_path.rglob("*"))
    calls: list[Callable[[Path], object]] = [
        colonnade.open,
        lambda path: colonnade.create(path, SCHEMA),
    ]
    for call in calls:
        with pytest.raises(colonnade.CorruptionError, match=f"{first} is missing"):
            call(tmp_path / place)
    assert set(tmp_path.rglob("*")) == before


def test_a_table_is_created_once(table: colonnade.ArrowTable) -> None:
    with pytest.raises(colonnade.AlreadyExistsError, match="trips"):
        colonnade.create(table.path, SCHEMA)


def test_a_table_below_a_table_is_refused(table: colonnade.ArrowTable) -> None:
    for below in ("inner", "inner/deeper"):
        with pytest.raises(colonnade.InvalidInputError, match="inside"):
            colonnade.create(f"{table.path}/{below}", SCHEMA)


def test_a_database_holds_tables_by_name(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("a", SCHEMA).append(rows(1))
    colonnade.create(tmp_path / "db" / "b", SCHEMA).append(rows(2))
    assert database.tables() == ["a", "b"]
    assert ids(colonnade.open(tmp_path / "db" / "a").scan()) == [1]
    assert ids(colonnade.open_database(tmp_path / "db").table("b").scan()) == [2]
    with pytest.raises(colonnade.InvalidInputError, match="a database, not a table"):
        colonnade.open(tmp_path / "db")
    with pytest.raises(colonnade.NotFoundError, match=r"'c' .* a, b"):
        colonnade.open(tmp_path / "db" / "c")


def test_a_table_is_opened_by_its_name_also_where_no_folder_could_have_it(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("ü" * 255, pa.schema([("id", pa.int64())]))
    table = colonnade.open(tmp_path / "db" / ("ü" * 255))
    table.append(pa.table({"id": [1]}))
    assert table.scan().to_arrow()["id"].to_pylist() == [1]
    with pytest.raises(colonnade.NotFoundError):
        colonnade.open(tmp_path / "db" / ("ö" * 255))


def test_a_relative_path_in_a_removed_folder_is_an_error_of_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(colonnade.NotFoundError, match="working directory, which was removed"):
        colonnade.open("table")


@pytest.mark.parametrize("name", ["db", "t"])
def test_a_place_whose_drop_was_killed_can_be_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def create() -> object:
        if name == "db":
            return colonnade.create_database(tmp_path / name)
        return colonnade.create(tmp_path / name, SCHEMA)

    create()
    with monkeypatch.context() as patch:
        patch.setattr(dropping, "move_away", lambda store: None)
        dropping.drop_database(Log(LocalStore(tmp_path / name)), cascade=True)
    with pytest.raises(colonnade.NotFoundError, match="create it again"):
        colonnade.open_database(tmp_path / name).refresh()
    if name == "db":
        with pytest.raises(colonnade.NotFoundError, match="create it again"):
            colonnade.create(tmp_path / name / "below", SCHEMA)
    create()
    assert colonnade.open_database(tmp_path / name).tables() == ([] if name == "db" else ["t"])


def test_a_database_that_a_killed_drop_has_moved_away_is_found(tmp_path: Path) -> None:
    table = colonnade.create_database(tmp_path / "db").create_table("t", SCHEMA)
    table.append(rows(1))
    for look in (
        lambda: colonnade.open_database(tmp_path / "db"),
        lambda: colonnade.open(tmp_path / "db" / "t"),
    ):
        (tmp_path / "db").rename(_moved_name(str(tmp_path / "db"), "0" * 16))
        look()
        assert ids(table.scan()) == [1]


def test_a_database_can_be_moved_without_a_change(tmp_path: Path) -> None:
    colonnade.create(tmp_path / "old", SCHEMA).append(rows(1))
    (tmp_path / "old").rename(tmp_path / "new")
    assert ids(colonnade.open(tmp_path / "new").scan()) == [1]


def test_a_database_tells_its_tables_as_they_are_now(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    assert bool(database)
    assert (list(database), len(database), "t" in database) == ([], 0, False)
    other = colonnade.open_database(tmp_path / "db")
    for name in "ut":
        other.create_table(name, SCHEMA)
    assert (list(database), len(database), "t" in database) == (["t", "u"], 2, True)
    assert database["t"].name == "t"
    assert 5 not in database
    with pytest.raises(colonnade.NotFoundError, match="'x' does not exist"):
        database["x"]
    assert repr(database).startswith("ArrowDatabase(")


def test_a_notebook_completes_the_names_of_tables(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("orders", SCHEMA)
    assert database._ipython_key_completions_() == ["orders"]
