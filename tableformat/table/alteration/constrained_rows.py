"""Commit new constraints after the rows that are there were checked.

RowSets that statistics in the log do not decide are scanned. A RowSet that a concurrent
writer adds before the slot is scanned, too.
Spec: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.predicate.expressions import Not
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.write.constraints import bind_constraints


class ConstrainedRows:
    """The rows of a table beside its new constraints. Each RowSet is read once.

    The rows of the state `known` meet the constraints.
    """

    def __init__(
        self, log: Log, added: Sequence[CheckConstraint], known: TableState | None
    ) -> None:
        self._log = log
        self._added = added
        self._known = known

    def check(self, change: Change, base: Snapshot, table: TableState) -> None:
        """Check the rows of a table in a state, on which `change` adds the constraints.

        After an earlier check, only RowSets that are new are read. Raises InvalidInputError that
        names the constraint and the values of a row. Raises CorruptionError, StoreError.
        """
        if not self._added:
            return
        after = self._log.preview(change, base).tables[table.id]
        met = set[_Values]()
        if self._known is not None and self._known.schema == table.schema:
            met = {
                _values(each) for each in self._log.rowsets.view(self._known, None, None).rowsets
            }
        for rule in bind_constraints(after.name, self._added, after.schema):
            violated = Not(parse_predicate(rule.text))
            view = self._log.rowsets.view(after, rowset_filter(after, violated), None)
            new = view.of(each for each in view.rowsets if _values(each) not in met)
            plan = plan_scan(new, base.epoch, rule.columns or None, violated)
            for batch in read_plan(self._log.store, plan):
                if batch.num_rows:
                    raise rule.violated(batch, 0, "the constraint was not added")
        self._known = table


_Values = tuple[str, ...]


def _values(rowset: LiveRowSet) -> _Values:
    """Return the objects that hold the values of a RowSet, which name these values."""
    return (rowset.entry.object, *(each.object for each in rowset.replacements))
