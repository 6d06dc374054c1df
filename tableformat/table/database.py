"""A database as users of Arrow see it: its tables, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore, StoreAddress, StorePath
from colonnade.tableformat.location import (
    Location,
    StorageOptions,
    locate,
    locate_existing,
    refuse_existing,
)
from colonnade.tableformat.table.creation import ChangedTypes, commit_created, designed
from colonnade.tableformat.table.database_maintenance import DatabaseMaintenance
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec
from colonnade.tableformat.table.epochs.time_travel import epoch_number
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import GivenSchema
from colonnade.tableformat.write.settings import CommitSettings

if TYPE_CHECKING:
    from colonnade.tableformat.table import alteration
    from colonnade.tableformat.table.transaction import transaction as transactions
else:
    alteration = later("colonnade.tableformat.table.alteration")
    transactions = later("colonnade.tableformat.table.transaction.transaction")


@public
class ArrowDatabase(DatabaseMaintenance):
    """A directory with one log of epochs and any number of tables.

    Create one with `colonnade.open_database` or `colonnade.create_database`.
    """

    @classmethod
    def open(
        cls,
        path: StorePath,
        storage_options: StorageOptions | None = None,
        *,
        filesystem: Any = None,
    ) -> ArrowDatabase:
        """Open the database at `path`; a lone table is a database with one table.

        `filesystem` is one of fsspec, such as `s3fs.S3FileSystem(...)`. `path` is then one in it.

        Raises NotFoundError when no database exists, and InvalidInputError for the path of a
        table.
        """
        location = locate_existing(StoreAddress.of(path, storage_options, filesystem=filesystem))
        if location.table is not None:
            raise InvalidInputError(
                f"{location.url} is inside the database {location.store.url}; open that."
            )
        log = Log(location.store)
        return cls(location.store, log, log.reader.read_head(opening=location.opening))

    @classmethod
    def create(
        cls,
        path: StorePath,
        storage_options: StorageOptions | None = None,
        *,
        filesystem: Any = None,
    ) -> ArrowDatabase:
        """Create an empty database. Raises AlreadyExistsError when one exists at the path.

        `filesystem` is that of `open`.
        """
        location = locate(StoreAddress.of(path, storage_options, filesystem=filesystem))
        refuse_existing(location)
        snapshot = create_database(location.store, lone_table=False)
        return cls(location.store, Log(location.store), snapshot)

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return sorted(self._refresh().own_names().values())

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tables, sorted."""
        return iter(self.tables())

    def __len__(self) -> int:
        return len(self.tables())

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        """Whether a table has this name now."""
        return name in self.tables()

    def __getitem__(self, name: str) -> ArrowTable:
        """Open a table: `table(name)`."""
        return self.table(name)

    def _ipython_key_completions_(self) -> list[str]:
        """The names that a notebook offers after `db["`."""
        return self.tables()

    def table(self, name: str, *, epoch: int | None = None) -> ArrowTable:
        """Open the table that has this name, or that had it at `epoch`.

        With `epoch`, a dropped table is found, too, and its `scan(epoch=…)` reads it. Raises
        NotFoundError that lists the existing tables, and for an epoch that does not exist.
        """
        head = self._refresh()
        named = head if epoch is None else self._log.reader.read_at(epoch_number(epoch), head=head)
        return ArrowTable(self._locate(name, named).follow(named), self._log, head)

    def create_table(
        self,
        name: str,
        schema: TableSpec | GivenSchema | Any,
        *,
        data: Any = None,
        changed_types: ChangedTypes = "warn",
        **keywords: Unpack[SpecKeywords],
    ) -> ArrowTable:
        """Create a table, with rows if `schema` or `data` has some; see `ArrowTable.create`.

        Raises AlreadyExistsError when the name is taken.
        """
        base = self._refresh()
        location = self._locate(name, base)
        design, rows = designed(name, schema, data, changed_types, **keywords)
        location.require_absent(base)
        self._snapshot = commit_created(self._log, location, base, design, rows)
        return ArrowTable(location, self._log, self._snapshot)

    def drop_table(self, name: str) -> int:
        """Drop a table, and return the epoch of the drop. Its earlier epochs stay readable.

        `table(name, epoch=e).scan(epoch=e)` reads them. Raises NotFoundError for an unknown
        name.
        """
        base = self._refresh()
        self._snapshot = alteration.commit_drop(
            self._log, base, self._locate(name, base).require(base)
        )
        return self._snapshot.epoch

    def rename_table(self, name: str, new_name: str) -> int:
        """Rename a table, and return the new epoch. Moves no file.

        Raises NotFoundError for an unknown name, AlreadyExistsError when the new name is taken, and
        InvalidInputError for a lone table, which is named by its folder.
        """
        base = self._refresh()
        table = self._locate(name, base).require(base)
        self._snapshot = alteration.commit_rename(self._log, base, table, new_name)
        return self._snapshot.epoch

    def transaction(self, *, commit: CommitSettings | None = None) -> transactions.ArrowTransaction:
        """Begin a transaction on the newest state; use it in a `with` block.

        It changes any number of tables in one epoch, or none: see `ArrowTransaction`.
        """
        return transactions.ArrowTransaction(self._log, self._refresh(), commit)

    def __reduce__(self) -> tuple[Callable[..., ArrowDatabase], tuple[Any, ...]]:
        """Pickle which database it is. The other process reads its newest state at once."""
        return _opened_again, (self._store,)

    def _locate(self, name: str, snapshot: Snapshot) -> Location:
        names = set(snapshot.table_names().values())
        lone = snapshot.lone_table and name in names
        return Location(self._store, None if lone else name, exists=True)


def _opened_again(store: ObjectStore) -> ArrowDatabase:
    """Open a database in another process. Raises the errors of `LogReader.read_head`."""
    log = Log(store)
    return ArrowDatabase(store, log, log.reader.read_head())
