"""The JSON that tells a task what to read. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from colonnade.manifests.state.view import Statics
from colonnade.manifests.store.cache.options import cache_settings
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.predicate.expressions import TRUE
from colonnade.tableformat.predicate.prune import MOST_MEMBERS
from colonnade.tableformat.scan.plan import ScanPlan, plan_scan
from colonnade.tableformat.scan.task_statics import statics_of_task


def scan_task(named: NamedView, plan: ScanPlan, more: Mapping[str, Any] | None = None) -> str:
    """Return a task that reads a plan: the URL, the plan, `most_members`, the cache of the store.

    If the plan has static values, the task has the part of them that it needs. It has no storage
    options, which may be secrets. `more` is added.
    """
    address = place_of(named)
    cache = cache_settings(address.storage_options, address.url)
    about: dict[str, Any] = {"most_members": MOST_MEMBERS}
    if cache is not None:
        about["cache"] = cache._asdict()
    if plan.view.statics is not None:
        about["statics"] = statics_json(*statics_of_task(plan.view.statics, plan))
        plan = replace(plan, view=replace(plan.view, statics=None))
    stated = json.dumps({**about, **(more or {})}, separators=(",", ":"))
    return f'{{"url":{json.dumps(named.url)},"plan":{plan.to_json()},{stated[1:]}'


def statics_json(statics: Statics, about: Predicate = TRUE) -> str:
    """Return where static values are, and what the wanted keys have in common, as one JSON object.

    It is equal where the values are, so that tasks of other queries use the values again.
    """
    plan = plan_scan(statics.view, statics.view.epoch, None, None if about is TRUE else about)
    return json.dumps(
        {"key": [each.name for each in statics.key], "scan": json.loads(plan.to_json())}
    )
