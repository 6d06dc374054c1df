"""What the history shows of a statement of Spark that changes rows: its condition and clauses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.shown import LONGEST, shortened
from colonnade.tableformat.statements.statement import Statement

_LIMITS = (LONGEST, 200, 40)
"""The most characters of each text of a clause; the first that keeps all clauses short enough."""


def telling(reported: Reported, args: Mapping[str, Any]) -> Reported:
    """Return what a job did, with what its statement says in `told`, which the jar has noted.

    `told` has the texts `where` or `on`, and `set`, and for each kind of clause of a MERGE a list
    of clauses with `actionType`, and perhaps `predicate` and `set`.
    """
    texts = {name: _text(said) for name, said in args.get("told", {}).items() if said}
    if not texts:
        return reported

    def told(log: StatementLog, table: TableState) -> Statement:
        statement = reported(log, table)
        return replace(statement, parameters={**statement.parameters, **texts})

    return told


def _text(said: str | list[dict[str, str]]) -> str:
    """Return a text as it is, and clauses as JSON that stays valid however long they are."""
    if isinstance(said, str):
        return said
    for limit in _LIMITS:
        clauses = [{name: shortened(text, limit) for name, text in each.items()} for each in said]
        if len(text := json.dumps(clauses, ensure_ascii=False)) <= LONGEST:
            return text
    return json.dumps([{"clauses": len(said)}])
