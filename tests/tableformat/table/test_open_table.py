"""An open table stays bound to its table, and reads earlier epochs where the head is damaged."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_an_open_table_follows_its_new_name_and_not_another_table(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    before = database.create_table("a", SCHEMA).append(rows(1))
    reader, writer, idle = (colonnade.open(tmp_path / "db" / "a") for _ in range(3))
    database.rename_table("a", "b")
    database.create_table("a", SCHEMA).append(rows(7))
    assert ids(reader.scan()) == [1]
    assert (reader.name, reader.path) == ("b", str(tmp_path / "db" / "b"))
    writer.append(rows(2))
    writer.append(rows(3))
    reader.refresh()
    reader.overwrite(rows(4))
    assert ids(idle.scan(epoch=before)) == [1]
    assert ids(database.table("b").scan()) == ids(idle.scan()) == [4]
    assert ids(database.table("a").scan()) == [7]
    assert idle.history()[0].operation == "overwrite"


@pytest.mark.parametrize("place", ["alone", "db/t"])
@pytest.mark.parametrize("again", [False, True])
def test_an_open_table_that_was_dropped_says_so(place: str, again: bool, tmp_path: Path) -> None:
    if "/" in place:
        colonnade.create_database(tmp_path / "db")
    table = colonnade.create(tmp_path / place, SCHEMA)
    before = table.append(rows(1))
    stale = colonnade.open(tmp_path / place)
    database = colonnade.open_database(tmp_path / place.split("/")[0])
    last = database.drop_table(table.name)
    if again:
        last = colonnade.create(tmp_path / place, SCHEMA).append(rows(7))
    for mine in (table, stale):
        for write in (mine.overwrite, mine.append):
            with pytest.raises(colonnade.ConflictError, match="was dropped"):
                write(rows(2))
        assert ids(mine.scan(epoch=before)) == [1]
        mine.refresh()
        for use in (
            mine.scan,
            mine.history,
            lambda of=mine: of.schema,
            lambda of=mine: of.append(rows(2)),
            lambda of=mine: of.overwrite(rows(2)),
            lambda of=mine: of.scan(epoch=last),
        ):
            with pytest.raises(colonnade.NotFoundError, match="was dropped"):
                use()
        assert ids(mine.scan(epoch=before)) == [1]
    if again:
        assert ids(colonnade.open(tmp_path / place).scan()) == [7]


@pytest.mark.parametrize("place", ["alone", "db/t"])
def test_a_dropped_table_is_opened_as_of_an_epoch(place: str, tmp_path: Path) -> None:
    if "/" in place:
        colonnade.create_database(tmp_path / "db")
    before = colonnade.create(tmp_path / place, SCHEMA).append(rows(1))
    database = colonnade.open_database(tmp_path / place.split("/")[0])
    (name,) = database.tables()
    database.drop_table(name)
    advice = rf"open_database\(path\)\.table\({name!r}, epoch=\.\.\.\)"
    with pytest.raises(colonnade.NotFoundError, match=advice):
        database.table(name)
    with pytest.raises(colonnade.NotFoundError, match=r"open_database\(path\)\.table\("):
        colonnade.open(tmp_path / place)
    dropped = database.table(name, epoch=before)
    assert dropped.path == str(tmp_path / place)
    assert ids(dropped.scan(epoch=before)) == [1]
    with pytest.raises(colonnade.NotFoundError, match="was dropped"):
        dropped.append(rows(2))
    with pytest.raises(colonnade.NotFoundError, match=name):
        database.table(name, epoch=0)
    with pytest.raises(colonnade.NotFoundError, match="99"):
        database.table(name, epoch=99)


def test_a_lost_newest_epoch_is_not_written_again(table: colonnade.ArrowTable) -> None:
    while table.epoch < 64:
        last = table.append(rows(table.epoch))
    lost = Path(table.path) / epoch_name(last)
    lost.unlink()
    opened = colonnade.open(table.path)
    assert len(ids(opened.scan(epoch=last - 1))) == last - 2
    for use in (opened.scan, lambda: opened.append(rows(1)), lambda: opened.scan(epoch=last)):
        with pytest.raises(colonnade.CorruptionError, match=f"{lost.name} is missing"):
            use()
    assert not lost.exists()


@pytest.mark.parametrize("place", ["alone", "db/t"])
def test_epochs_before_a_damaged_head_can_be_read(place: str, tmp_path: Path) -> None:
    if "/" in place:
        colonnade.create_database(tmp_path / "db")
    table = colonnade.create(tmp_path / place, SCHEMA)
    before = table.append(rows(1))
    newest = tmp_path / place.split("/")[0] / epoch_name(table.append(rows(2)))
    newest.write_bytes(newest.read_bytes()[:-9])
    opened = colonnade.open(tmp_path / place)
    assert repr(opened).endswith("epoch=None)")
    for reader in (table, opened):
        assert ids(reader.scan(epoch=before)) == [1]
        with pytest.raises(colonnade.CorruptionError, match=newest.name):
            reader.scan(epoch=before + 1)
    for use in (opened.scan, opened.refresh, lambda: opened.schema, lambda: opened.append(rows(3))):
        with pytest.raises(colonnade.CorruptionError, match=newest.name):
            use()


def test_epochs_before_a_head_that_cannot_be_read_can_be(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    before = table.append(rows(1))
    newest = tmp_path / "t" / epoch_name(table.append(rows(2)))
    newest.unlink()
    newest.mkdir()
    opened = colonnade.open(tmp_path / "t")
    assert ids(opened.scan(epoch=before)) == [1]
    for use in (opened.scan, opened.refresh, lambda: opened.append(rows(3))):
        with pytest.raises(colonnade.ColonnadeError, match=newest.name):
            use()


@pytest.mark.parametrize("opened", ["before", "after"])
def test_an_epoch_below_the_floor_is_removed_while_its_file_still_exists(
    opened: str, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    epochs = [table.append(rows(number)) for number in range(4)]
    other = colonnade.open(tmp_path / "t")
    time = table.time_of(epochs[1])
    table.vacuum(0, force=True)
    assert table.time_of(epochs[1]) is None
    assert (tmp_path / "t" / epoch_name(epochs[0])).stat().st_size > 300
    if opened == "after":
        other = colonnade.open(tmp_path / "t")
    with pytest.raises(colonnade.NotFoundError, match="oldest readable epoch is 5"):
        other.scan(epoch=epochs[1])
    with pytest.raises(colonnade.NotFoundError, match="oldest readable epoch is 5"):
        other.scan(timestamp=time)
    assert ids(other.scan(epoch=epochs[-1])) == [0, 1, 2, 3]


def test_an_open_table_does_not_read_another_that_took_its_place(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    before = table.append(rows(1))
    shutil.rmtree(tmp_path / "t")
    with pytest.raises(colonnade.NotFoundError):
        table.scan(epoch=before)
    colonnade.create(tmp_path / "t", SCHEMA).append(rows(2))
    with pytest.raises(colonnade.NotFoundError, match="removed or replaced"):
        table.scan(epoch=before)


class Unread(dict[Any, Any]):
    """Tables that are in pages of a checkpoint, while the store does not answer."""

    broken = True

    def __getitem__(self, key: object) -> Any:
        if Unread.broken:
            raise colonnade.StoreError("no answer", True)
        return super().__getitem__(key)

    def get(self, key: object, default: object = None) -> Any:
        return self[key] if self.broken or key in self else default

    def __contains__(self, key: object) -> bool:
        return (not self.broken or self[key]) and super().__contains__(key)


CHANGES: dict[str, Callable[[colonnade.ArrowTable], object]] = {
    "append": lambda table: table.append(rows(2)),
    "overwrite": lambda table: table.overwrite(rows(1, 2)),
    "overwrite_where": lambda table: table.overwrite(rows(2), "id = 2"),
    "delete": lambda table: table.delete("id = 1"),
    "alter": lambda table: table.partition_by("id"),
    "restore": lambda table: table.restore(epoch=1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_commit_whose_state_cannot_be_read_does_not_look_like_a_failed_one(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever repeats an append that seems to have failed has its rows twice."""
    table = colonnade.create(tmp_path / "t", SCHEMA)
    last = table.append(rows(1))
    commit = Log.commit_change

    def unread(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        after, epoch = commit(log, change, base)
        return replace(after, tables=Unread(after.tables)), epoch

    monkeypatch.setattr(Log, "commit_change", unread)
    monkeypatch.setattr(Unread, "broken", True)
    CHANGES[change](table)
    monkeypatch.undo()
    monkeypatch.setattr(Unread, "broken", False)
    assert table.epoch == last + 1
    assert isinstance(read_slot(table._log.store, last + 1), Epoch)
    assert table.append(rows(3)) == last + 2
    assert ids(table.scan()) == ids(colonnade.open(tmp_path / "t").scan())
