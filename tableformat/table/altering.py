"""Changes of a table's design as methods: its columns, properties and partitions, and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colonnade.manifests.later import later
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.table.opened import OpenTable

if TYPE_CHECKING:
    from colonnade.tableformat.table import alteration
else:
    alteration = later("colonnade.tableformat.table.alteration")


class Altering(OpenTable):
    """The methods of a table that change what it is, and no row of it."""

    def alter(self, *changes: alteration.Alteration) -> int:
        """Change columns, properties, constraints or the comment in one epoch, and return it.

        No file is touched; `alteration/` has the changes. A new constraint first reads
        RowSets, except where the log's bounds decide it. Raises InvalidInputError or
        NotFoundError that names the column, or a constraint and the values of a row that it does
        not allow. Raises ConflictError when a concurrent writer altered the same thing since the
        table was last read.
        """
        after = alteration.commit_alterations(self._log, self._snapshot, self._state, changes)
        return self._see_committed(after).epoch

    def _alter_checked(self, checked: Snapshot, *changes: alteration.Alteration) -> int:
        """Change the table as `alter` does, after Spark has checked the rows of a state.

        A new constraint with `columns` is one that only Spark can evaluate. It raises ConflictError
        when a concurrent writer has added rows since that state.
        """
        after = alteration.commit_alterations(
            self._log, self._snapshot, self._state, changes, checked
        )
        return self._see_committed(after).epoch

    def rename_column(self, path: alteration.FieldPath, new_name: str) -> int:
        """Rename a column, or a field inside one, and return the epoch: `alter(RenameColumn(…))`.

        Raises the errors of `alter`.
        """
        return self.alter(alteration.RenameColumn(path, new_name))

    def drop_column(self, *paths: alteration.FieldPath) -> int:
        """Drop columns, or fields inside them, and return the epoch: `alter(DropColumn(…), …)`.

        No file is touched, and earlier epochs still have the columns. Raises the errors of `alter`.
        """
        return self.alter(*(alteration.DropColumn(path) for path in paths))

    def partition_by(self, *fields: str) -> int:
        """Partition new rows by other fields, such as `days(ts)`; no fields end partitioning.

        Existing RowSets keep their partitions until compaction rewrites them. Returns the epoch.
        Raises NotFoundError or InvalidInputError that names the column at fault, and ConflictError.
        """
        return self.alter(alteration.SetPartitioning(fields))

    def rename(self, new_name: str) -> int:
        """Rename the table in its database, and return the epoch. Moves no file.

        Raises AlreadyExistsError when the name is taken, and InvalidInputError for a lone table,
        which is named by its folder, and for the table of static values.
        """
        base = self._refresh()
        table = self._location.require(base)
        return self._see_committed(alteration.commit_rename(self._log, base, table, new_name)).epoch

    def drop(self) -> int:
        """Drop the whole table, and return the epoch of the drop; `drop_column` drops a column.

        Earlier epochs stay readable until a vacuum: `database.table(name, epoch=e)` opens them, and
        `database.restore(epoch=e)` brings the table back. Methods of this object raise
        NotFoundError from then on. Raises InvalidInputError for the table of static values.
        """
        base = self._refresh()
        table = self._location.require(base)
        return self._see_committed(alteration.commit_drop(self._log, base, table)).epoch
