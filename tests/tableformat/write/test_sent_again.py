"""A commit that is sent again, while the store fails or a vacuum removes what it reads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CommitUnknownError
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.job import WriteJob, WriteMode, target_of
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings
from tests.faults import Fault, FaultyStore

SCHEMA = pa.schema([("id", pa.int64())])
LIMITS_OF_ONE = replace(LIMITS, root_tables=0, root_bytes=0, page_bytes=20, inline_bytes=0)
"""Tables lie outside the root of a checkpoint, so that a state is read in several calls."""


def rows(first: int) -> pa.Table:
    return pa.table({"id": range(first, first + 2)}, SCHEMA)


class Beside(FaultyStore):
    """Does something else right before one of its calls."""

    def __init__(self, inner: MemoryStore, call: int, act: Callable[[], object]) -> None:
        super().__init__(inner)
        self.call, self._act = call, act

    def _fault_at(self, number: int, operation: str) -> Fault | None:
        if number == self.call:
            self._act()
        return super()._fault_at(number, operation)


def open_log(store: MemoryStore | FaultyStore) -> Log:
    """A log whose checkpoints are frequent, and which does not wait."""
    return Log(store, checkpoint_interval=2, pause=lambda _: None, limits=LIMITS_OF_ONE)


def landed(
    mode: WriteMode,
) -> tuple[MemoryStore, ArrowDatabase, WriteJob, Sequence[RowSetEntry], int]:
    """A job that has landed, with epochs before and after it, of two tables; and its epoch."""
    store = MemoryStore()
    base = create_database(store, lone_table=False, slot_block=2)
    database = ArrowDatabase(store, open_log(store), base)
    table, other = (database.create_table(name, SCHEMA) for name in ("t", "u"))
    for first in range(0, 8, 2):
        table.append(rows(first))
    head = open_log(store).reader.read_head()
    other.append(rows(50))
    job = WriteJob(
        address=store.address,
        target=target_of(head.table("t"), LIMITS),
        mode=mode,
        create=None,
        create_database=False,
        base=head.epoch,
        transaction=new_transaction_id(),
        job_id=new_job_id(),
        settings=WriteSettings(),
        commit=CommitSettings(),
        parameters={},
    )
    entries = write_rows(job, rows(100).to_batches(), store)
    epoch = commit_written(job, entries, database._log, fresh=True).epoch
    for first in range(200, 206, 2):
        table.append(rows(first))
    return store, database, job, entries, epoch


def vacuums(database: ArrowDatabase) -> None:
    """Two vacuums that keep the newest epoch, and one after the job's in between."""
    for _ in range(2):
        vacuum(database._log, VacuumRequest(0, 1, threads=1))
        database.table("t").append(rows(300))


def outcomes(mode: WriteMode, kept: int | None, every: int) -> Iterator[bool]:
    """Whether the second send finds the first, for something else right before a call of it.

    That is a failure of the store, or vacuums after one that has kept `epochs` epochs. The calls
    are the first one and each one `every` calls later.
    """
    for call in count(1, every):
        store, database, job, entries, epoch = landed(mode)
        if kept is None:
            way = FaultyStore(store, {call: Fault.FAIL_BEFORE})
        else:
            vacuum(database._log, VacuumRequest(0, kept, threads=1))
            way = Beside(store, call, partial(vacuums, database))
        try:
            assert commit_written(job, entries, open_log(way)).epoch == epoch
            yield True
        except CommitUnknownError:
            yield False
        if len(way.trace) < call:
            return


BASE, LANDED = 5, 4
"""The numbers of epochs that a vacuum keeps to make the job's base, or its epoch, the floor."""


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("mode", "kept"),
    [
        ("append", None),
        ("overwrite", None),
        ("append", BASE),
        ("overwrite", BASE),
        ("append", LANDED),
    ],
)
def test_a_commit_that_has_landed_is_never_called_failed(
    mode: WriteMode, kept: int | None, every: int
) -> None:
    found = [*outcomes(mode, kept, every)]
    assert any(found)
    assert all(found) == (kept is None), "only a vacuum removes what tells of the commit"
