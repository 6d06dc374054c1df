"""The static values that one task of a scan needs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import Statics
from colonnade.tableformat.predicate import Predicate, bind, from_json
from colonnade.tableformat.predicate.bound import BoundConstant
from colonnade.tableformat.predicate.expressions import TRUE, Column, Compare, Operator, conjunction
from colonnade.tableformat.predicate.implied_predicate import implied
from colonnade.tableformat.predicate.storage import stored_literal
from colonnade.tableformat.rowset.view.statics import keys_near, rowsets_near
from colonnade.tableformat.scan.plan import ScanPlan

_SAMPLED = 64
"""The most RowSets of a plan whose keys are looked at to choose how tasks read static values."""


def is_divided(statics: Statics, plan: ScanPlan) -> bool:
    """Whether each task of a plan should read a part of its static values.

    That pays if they are many, and if few of them have the keys that a RowSet may have, or that the
    predicate allows. Else the tasks of a process read all values once.
    """
    rowsets = plan.view.rowsets
    if keys_near(statics, rowsets) is None:
        return False
    if _about_keys(plan, statics) is not TRUE:
        return True
    sample = rowsets[:: -(-len(rowsets) // _SAMPLED)]
    near = sum(_bytes_near(statics, [each]) for each in sample) // len(sample)
    return 2 * near <= sum(each.byte_count for each in statics.view.rowsets)


def divided_bytes(statics: Statics, plan: ScanPlan) -> int:
    """Estimate the stored bytes of the static values that the tasks of a plan divide."""
    if not is_divided(statics, plan) or _about_keys(plan, statics) is not TRUE:
        return 0
    return _bytes_near(statics, plan.view.rowsets)


def _bytes_near(statics: Statics, rowsets: Sequence[LiveRowSet]) -> int:
    return sum(each.byte_count for each in rowsets_near(statics, keys_near(statics, rowsets)))


def statics_of_task(statics: Statics, task: ScanPlan) -> tuple[Statics, Predicate]:
    """Return the static values of the keys that a task may have; all of them if they are few.

    The bounds of the task's RowSets say which keys these are, and its predicate; so does the result
    as a predicate. Requires that the plan has these bounds, as `plan_scan` leaves them.
    """
    near = keys_near(statics, task.view.rowsets)
    if near is None:
        return statics, TRUE
    part = statics.view.of(rowsets_near(statics, near))
    about = conjunction((_inside(near.intervals[0], statics.key[0]), _about_keys(task, statics)))
    return Statics(statics.key, part), about


def _about_keys(plan: ScanPlan, statics: Statics) -> Predicate:
    """Return what the predicate of a plan says about partition keys; TRUE if it allows all."""
    if plan.predicate is None:
        return TRUE
    columns = plan.view.columns
    about = implied(from_json(plan.predicate), columns, [each.id for each in statics.key])
    return TRUE if bind(about, columns).root == BoundConstant(True) else about


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
