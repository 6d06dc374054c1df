"""What the history shows of a statement of Spark that changes rows: its condition and clauses."""

from __future__ import annotations

import json
from dataclasses import replace

from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.planner.messages.clauses import Clause, HistoryText
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.statement import LONGEST_TEXT, Statement, shortened

_LIMITS = (LONGEST_TEXT, 200, 40)
"""The most characters of each text of a clause; the first that keeps all clauses short enough."""


def with_history(reported: Reported, said: HistoryText) -> Reported:
    """Return what a job did, with what its statement says, which the jar has recorded."""
    texts = {name: _text(part) for name, part in said if part}
    if not texts:
        return reported

    def with_texts(log: StatementLog, table: TableState) -> Statement:
        statement = reported(log, table)
        return replace(statement, parameters={**statement.parameters, **texts})

    return with_texts


def _text(said: str | tuple[Clause, ...]) -> str:
    """Return a text as it is, and clauses as JSON that stays valid however long they are."""
    if isinstance(said, str):
        return said
    for limit in _LIMITS:
        clauses = [_shown(each, limit) for each in said]
        if len(text := json.dumps(clauses, ensure_ascii=False)) <= LONGEST_TEXT:
            return text
    return json.dumps([{"clauses": len(said)}])


def _shown(clause: Clause, limit: int) -> dict[str, str]:
    texts = {"predicate": clause.predicate, "actionType": clause.action, "set": clause.set}
    return {name: shortened(text, limit) for name, text in texts.items() if text is not None}
