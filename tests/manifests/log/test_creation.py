"""A database is created once, and neither inside nor around another."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import AlreadyExistsError, CorruptionError, InvalidInputError
from colonnade.manifests.log.log import create_database
from colonnade.manifests.object_names import FREED, HINT, epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore
from tests.log_samples import append, make_log, with_orders


def test_databases_do_not_nest_through_links(tmp_path: Path) -> None:
    create_database(LocalStore(tmp_path / "a"), lone_table=False)
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    with pytest.raises(InvalidInputError, match="inside"):
        create_database(LocalStore(tmp_path / "link" / "c"), lone_table=True)


def test_databases_do_not_nest(tmp_path: Path) -> None:
    create_database(LocalStore(tmp_path / "a" / "b"), lone_table=False)
    with pytest.raises(InvalidInputError, match="around"):
        create_database(LocalStore(tmp_path / "a"), lone_table=False)
    with pytest.raises(InvalidInputError, match="inside"):
        create_database(LocalStore(tmp_path / "a" / "b" / "c" / "d"), lone_table=True)
    create_database(LocalStore(tmp_path / "a" / "z"), lone_table=True)
    with pytest.raises(AlreadyExistsError):
        create_database(LocalStore(tmp_path / "a" / "z"), lone_table=True)


@pytest.mark.parametrize(
    "name",
    [
        *("part-00000-c000.snappy.parquet", "_SUCCESS", "_delta_log/00.json", "day=1/part.orc"),
        *("a.csv", "a.csv.gz", "a.json", ".hoodie/x"),
        *("metadata/00000-1f2e.metadata.json", "metadata/v1.gz.metadata.json"),
        *("metadata/v1.metadata.json.gz", "metadata/version-hint.text"),
        *("snapshot/snapshot-1", "snapshot/LATEST"),
    ],
)
def test_a_folder_of_another_format_gets_no_database_and_no_file(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "data"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).touch()
    with pytest.raises(InvalidInputError, match="holds data of another format, such as"):
        create_database(LocalStore(folder), lone_table=False)
    with pytest.raises(InvalidInputError, match="give Colonnade a folder of its own"):
        colonnade.create(folder, pa.schema({"a": pa.int64()}))
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / name]


def test_a_database_may_be_made_beside_notes_and_folders_of_data(tmp_path: Path) -> None:
    notes = ("README.md", ".gitkeep", "metadata/owners.json", "raw/metadata/v1.metadata.json")
    store = MemoryStore()
    for name in (*notes, "raw/part.parquet", "raw/day=1/part.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in notes[2:]:
        store.put(name, b"x", sync=False)
    create_database(LocalStore(tmp_path), lone_table=False)
    create_database(store, lone_table=False)


@pytest.mark.parametrize("path", ["~", "~/", "{home}", "{home}/../home", "file:{home}"])
def test_a_home_folder_that_is_in_use_gets_no_database(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".profile").touch()
    monkeypatch.setenv("HOME", str(home))
    schema, path = pa.schema({"a": pa.int64()}), path.format(home=home)
    for create in (colonnade.create_database, partial(colonnade.create, schema=schema)):
        with pytest.raises(InvalidInputError, match="is the home folder and has other files, such"):
            create(path)
    assert [each.name for each in home.iterdir()] == [".profile"]
    assert colonnade.create("~/lake", schema).path == str(home / "lake")


def test_an_empty_home_folder_is_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    create_database(LocalStore(tmp_path), lone_table=False)


def test_a_table_of_iceberg_in_a_bucket_gets_no_database() -> None:
    store = MemoryStore()
    for name in ("data/part.parquet", "metadata/00000-1f2e.metadata.json"):
        store.put(name, b"x", sync=False)
    with pytest.raises(InvalidInputError, match="such as metadata/00000-1f2e.metadata.json"):
        create_database(store, lone_table=False)


@pytest.mark.parametrize("left", [epoch_name(2), HINT, f"{FREED}0123456789abcdef-{0:020d}.json"])
def test_no_database_is_created_on_the_remains_of_a_log(left: str) -> None:
    store = MemoryStore()
    state = with_orders(store, make_log(store))
    while state.epoch < 2:
        state = make_log(store).commit(append(), state)
    kept = store.get(epoch_name(2))
    for info in [*store.list("")]:
        store.delete(info.name)
    store.put(epoch_name(0), kept, sync=False)
    store.put(left, kept, sync=False)
    store.delete(epoch_name(0))
    with pytest.raises(CorruptionError, match=f"{epoch_name(0)} is missing, although {left}"):
        create_database(store, lone_table=False)
    assert [info.name for info in store.list("")] == [left]
