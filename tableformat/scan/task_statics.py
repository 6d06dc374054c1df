"""The static values that one task of a scan needs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.state.amendments import StaticRows
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.tableformat.predicate import Predicate, bind, from_json, to_json
from colonnade.tableformat.predicate.bound import BoundConstant
from colonnade.tableformat.predicate.expressions import TRUE, Column, Compare, Operator, conjunction
from colonnade.tableformat.predicate.implied import implied
from colonnade.tableformat.predicate.storage import stored_literal
from colonnade.tableformat.rowset.statics import keys_near, rowsets_near
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, StaticsPlan

_SAMPLED = 64
"""The most RowSets of a plan whose keys are looked at to choose how tasks read static values."""


def is_divided(statics: StaticsPlan, plan: ScanPlan) -> bool:
    """Whether each task of a plan should read a part of its static values.

    That pays if they are many, and if few of them have the keys that a RowSet may have, or that the
    predicate allows. Else the tasks of a process read all values once.
    """
    rows, rowsets = statics.rows(), [each.rowset for each in plan.rowsets]
    if keys_near(rows, rowsets) is None:
        return False
    if _about_keys(plan, rows) is not TRUE:
        return True
    sample = rowsets[:: -(-len(rowsets) // _SAMPLED)]
    near = sum(_bytes_near(rows, [each]) for each in sample) // len(sample)
    return bool(2 * near <= sum(each.byte_count for each in rows.rowsets))


def divided_bytes(statics: StaticsPlan, plan: ScanPlan) -> int:
    """Estimate the stored bytes of the static values that the tasks of a plan divide."""
    rows = statics.rows()
    if not is_divided(statics, plan) or _about_keys(plan, rows) is not TRUE:
        return 0
    return _bytes_near(rows, [each.rowset for each in plan.rowsets])


def _bytes_near(rows: StaticRows, rowsets: Sequence[LiveRowSet]) -> int:
    return sum(each.byte_count for each in rowsets_near(rows, keys_near(rows, rowsets)))


def statics_of_task(statics: StaticsPlan, task: ScanPlan) -> StaticsPlan:
    """Return the static values of the keys that a task may have; all of them if they are few.

    The bounds of the task's RowSets say which keys these are, and its predicate. Requires that the
    plan has these bounds, as `plan_scan` leaves them.
    """
    rows = statics.rows()
    near = keys_near(rows, [each.rowset for each in task.rowsets])
    if near is None:
        return statics
    parts = [_inside(near.intervals[0], rows.key[0])]
    parts.append(_about_keys(task, rows))
    found = rowsets_near(rows, near)
    scan = statics.scan.model_copy(
        update={
            "predicate": to_json(conjunction(parts)),
            "rowsets": tuple(
                RowSetScan(rowset=each, ranges=((0, each.entry.rows),)) for each in found
            ),
        }
    )
    return statics.model_copy(update={"scan": scan})


def _about_keys(plan: ScanPlan, rows: StaticRows) -> Predicate:
    """Return what the predicate of a plan says about partition keys; TRUE if it allows all."""
    if plan.predicate is None:
        return TRUE
    about = implied(from_json(plan.predicate), plan.table_schema, [each.id for each in rows.key])
    return TRUE if bind(about, plan.table_schema).root == BoundConstant(True) else about


def _inside(interval: Interval, column: SchemaField) -> Predicate:
    if str(column.type).startswith("char("):
        return TRUE  # A bound may be the beginning of a value, and literals are padded.
    low, high = interval.bounds(column)
    assert low is not None, "Both ends of the keys are known."
    assert high is not None, "Both ends of the keys are known."
    return conjunction(
        (
            _compare(column, Operator.GREATER_EQUAL, low),
            _compare(column, Operator.LESS_EQUAL, high),
        )
    )


def _compare(column: SchemaField, operator: Operator, value: Bound) -> Predicate:
    return Compare(operator, Column((column.name,)), stored_literal(value, str(column.type)))
