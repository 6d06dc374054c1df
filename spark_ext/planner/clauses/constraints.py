"""Constraints in requests. Spark checks the rows that the JVM writes, and the planner checks when.

Spark adds the conditions of a table to each statement that writes rows. It knows the constraints
that the table had when the statement read it.
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.planner.messages.clauses import Constraint
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.tableformat.location import Location
from colonnade.tableformat.table.design.constraints import NewConstraint


def described_constraints(stated: Iterable[Constraint]) -> dict[str, NewConstraint]:
    """Return the constraints that a statement states, by name.

    Raises InvalidInputError for two of one name.
    """
    found: dict[str, NewConstraint] = {}
    for each in stated:
        if each.name in found:
            raise InvalidInputError(
                f"Constraint {each.name!r} is stated twice; choose another name for one of them."
            )
        found[each.name] = NewConstraint(each.name, each.condition, each.columns)
    return found


def require_checked(location: Location, head: Snapshot, view: NamedView) -> None:
    """Refuse a write at `head` if the table has got a constraint that Spark does not check.

    `view` is what the statement has read. Raises ConflictError that names table and constraint.
    """
    now = location.require(head)
    if not now.constraints or head.epoch == view.epoch:
        return
    then = SNAPSHOTS.at(location.store.address, view.database, view.epoch)
    for constraint in now.constraints:
        if constraint not in then.tables[now.id].constraints:
            raise ConflictError(
                f"Table {now.name!r} got the constraint {constraint.name!r} after the statement had"
                f" read it at epoch {then.epoch}; run it again."
            )
