"""The JSON that tells tasks which changes to read. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from colonnade.spark_ext.planner.messages.feed import PlannedChanges
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.read.scan_tasks import scan_task
from colonnade.spark_ext.planner.read.task_split import task_count
from colonnade.tableformat.feed.changes import Feed
from colonnade.tableformat.feed.images import AFTER, BEFORE
from colonnade.tableformat.feed.tasks import FeedTask, RowsTask, scans_of
from colonnade.tableformat.scan.plan import ScanPlan, divide_plan


@dataclass(frozen=True, slots=True)
class Change:
    """What brings rows: a task, and the epoch `version` with its date, in ms since 1970 UTC."""

    task: FeedTask
    version: int
    time_ms: int


def planned_changes(
    named: NamedView, feed: Feed, changes: Sequence[Change], parallelism: int
) -> PlannedChanges:
    """Return the tasks that read changes, about `parallelism` of them at once."""
    scans = [scan for each in changes for scan in scans_of(each.task)]
    size = sum(_read_bytes(scan) for scan in scans)
    share = max(1, size // task_count(size, parallelism))
    parts = (part for each in changes for part in _parts(named, feed, each, share))
    return PlannedChanges(
        tasks=tuple(_together(parts, share)),
        rows=sum(each.row_count for scan in scans for each in scan.view.rowsets),
        bytes=size,
    )


def _read_bytes(scan: ScanPlan) -> int:
    return scan.byte_count * len(scan.projection) // len(scan.view.columns.fields)


def _parts(
    named: NamedView, feed: Feed, change: Change, most_bytes: int
) -> Iterator[tuple[int, str]]:
    """Yield what tasks read as JSON, each with its stored bytes."""
    task = change.task

    def scan(plan: ScanPlan, kind: str) -> str:
        said = {
            "type": feed.name_of(kind),
            "version": change.version,
            "micros": change.time_ms * 1000,
        }
        return scan_task(named, plan, {"change": said})

    if isinstance(task, RowsTask):
        count = -(-_read_bytes(task.plan) // most_bytes)
        for plan in divide_plan(task.plan, max(1, count)):
            yield _read_bytes(plan), f'{{"rows":{scan(plan, task.change)}}}'
        return
    before, after = scan(task.before, BEFORE), scan(task.after, AFTER)
    order = ""
    if task.order is not None:
        text = base64.b64encode(task.order.astype("<i4").tobytes()).decode("ascii")
        order = f',"order":"{text}"'
    compared = json.dumps(task.compared)
    size = _read_bytes(task.before) + _read_bytes(task.after)
    yield size, f'{{"before":{before},"after":{after},"compared":{compared}{order}}}'


def _together(parts: Iterable[tuple[int, str]], most_bytes: int) -> Iterator[str]:
    """Yield tasks of about `most_bytes`, each of consecutive parts."""
    some: list[str] = []
    filled = 0
    for size, part in parts:
        if some and filled + size > most_bytes:
            yield f'{{"parts":[{",".join(some)}]}}'
            some, filled = [], 0
        some.append(part)
        filled += size
    if some:
        yield f'{{"parts":[{",".join(some)}]}}'
