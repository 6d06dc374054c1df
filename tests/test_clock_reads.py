"""Every read of a clock is known, and none of them decides alone what is destroyed."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.test_layers import LAYERS, ROOT, modules

ELAPSED = "how long something takes"
SHOWN = "a time for people"
DATES = "the date of an epoch, which is compared with the log and the store"
AGREES = "makes the agreed time"
READS = "what a reader sees"
CACHE = "when a file of the cache was last used, which any process may remove at any time"
STORES = "when an object in memory was written"

LIBRARY = {
    *(f"time.{name}" for name in ("time", "time_ns", "monotonic", "perf_counter", "clock_gettime")),
    *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
}

CALLS = frozenset({"own_ms", "now_ms", "query_ms", "date_of_write", "store_ms", "present_ms"})
"""Functions and methods of the project that read a clock."""

KNOWN: dict[str, set[str]] = {
    "manifests/clock.py": {ELAPSED, DATES},
    "manifests/log/creation.py": {DATES},
    "manifests/log/log.py": {DATES},
    "manifests/epochs/dating.py": {DATES},
    "manifests/epochs/agreement.py": {AGREES},
    "manifests/reading/reader.py": {READS},
    "manifests/store/cache/folder.py": {CACHE},
    "manifests/store/cache/store.py": {DATES},
    "manifests/store/draft.py": {"a dry run of a repair, which writes nothing"},
    "manifests/store/memory.py": {STORES},
    "manifests/store/bucket/patience.py": {ELAPSED},
    "manifests/store/local/turns.py": {ELAPSED},
    "manifests/vacuum/inventory.py": {"a dry run, and a vacuum that a user forces"},
    "tableformat/compaction/execute.py": {ELAPSED},
    "tableformat/compaction/schedule.py": {
        "whether a round compacts again, which destroys nothing"
    },
    "tableformat/progress.py": {ELAPSED},
    "tableformat/streams/source.py": {READS},
    "tableformat/table/changes.py": {READS},
    "tableformat/table/consumers.py": {"whether what a consumer has not read is kept for long"},
    "tableformat/table/rows_by_key.py": {READS},
    "tableformat/table/design/new_table.py": {
        "when the rows of a new table, which has none, were written"
    },
    "tableformat/table/report/report.py": {SHOWN},
    "tableformat/table/scans.py": {READS},
    "tableformat/table/epochs/epoch_range.py": {READS},
    "tableformat/table/epochs/time_travel.py": {READS},
    "tableformat/table/transaction/transaction.py": {"the own clock at the begin"},
    "tableformat/write/job.py": {"rows of a new database, which has no log yet"},
    "tableformat/verify/run.py": {ELAPSED},
    "spark_ext/planner/read/metadata.py": {READS},
    "spark_ext/planner/server.py": {ELAPSED},
    "spark_ext/planner/state/snapshots.py": {READS},
    "spark_ext/planner/state/transactions.py": {ELAPSED},
    "colonnade/maintain/round.py": {ELAPSED, SHOWN},
    "colonnade/cli/rows/export_rows.py": {ELAPSED},
    "colonnade/cli/rows/import_rows.py": {ELAPSED},
    "colonnade/cli/care/maintain.py": {ELAPSED, SHOWN},
    "colonnade/cli/care/write_report.py": {ELAPSED},
}
"""Where product code reads a clock, and what for. A new place needs a reason that is not to decide
what has expired: that is what `Agreement` and `StatementLog` are for.
"""


def _calls(path: Path) -> set[str]:
    """Return what a module calls, and which clocks of the project it imports."""
    tree = ast.parse(path.read_text())
    called = {ast.unparse(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
    imports = (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom))
    return called | {alias.name for each in imports for alias in each.names}


def _reads_clock(called: str) -> bool:
    return called in LIBRARY or called.rpartition(".")[2] in CALLS


def _makes(name: str, classes: set[str]) -> bool:
    return any(f"{each}(" in (ROOT / name).read_text() for each in classes)


@cache
def _modules() -> dict[str, set[str]]:
    return {
        path.relative_to(ROOT).as_posix(): _calls(path)
        for layer in LAYERS
        for path in modules(layer)
    }


def test_every_read_of_a_clock_is_known() -> None:
    found = {name for name, calls in _modules().items() if any(map(_reads_clock, calls))}
    assert found == KNOWN.keys()


def test_only_the_agreement_makes_the_time_of_a_step_that_destroys() -> None:
    made = {name for name, calls in _modules().items() if "AgreedTime" in calls}
    imported = {each for each in made if _makes(each, {"AgreedTime"})}
    assert imported == {"manifests/clock.py", "manifests/epochs/agreement.py"}


BEGIN = {
    "tableformat/statements/commit.py": "a job of tasks",
    "tableformat/table/computed_columns.py": "a backfill",
    "tableformat/table/evolution/fit_rows.py": "rows that are checked before columns are added",
    "tableformat/table/transaction/transaction.py": "all statements of a transaction",
    "tableformat/table/writes.py": "a statement of this process",
}
"""Where a statement begins, and gets the one time by which it decides what has expired."""

OWN = "rows that the statement has written itself"
RIVALS = "keys and values of concurrent writers, whether their rows live or not"

ALL_STORED = {
    "tableformat/statements/columns/computed.py": "values of live rows; NULL for expired ones",
    "tableformat/statements/expire.py": "what expired before the grace, by the cutoff of a purge",
    "tableformat/statements/columns/fill.py": "every stored row gets a value, expired or not",
    "tableformat/statements/identity_guard.py": RIVALS,
    "tableformat/statements/kept_identities.py": "rows that a view of the statement has shown",
    "tableformat/statements/key_guard.py": RIVALS,
    "tableformat/statements/keyed/incoming.py": OWN,
    "tableformat/statements/keyed/merge.py": OWN,
    "tableformat/statements/keyed/unique.py": RIVALS,
    "tableformat/statements/keyed/upsert.py": "no row, where the statement overwrites all",
    "tableformat/statements/overwrite.py": "written rows, and no row where it adds none",
    "tableformat/statements/ranges.py": "a deleted range deletes what has expired, too",
    "tableformat/statements/task_reports.py": OWN,
}
"""Statements with a view that `StatementLog.view` does not make, and what they read by it."""


def test_a_statement_gets_its_time_where_it_begins_and_nowhere_else() -> None:
    made = {"StatementLog", "StatementLog.begin"}
    begun = {name for name, calls in _modules().items() if calls & made and _makes(name, made)}
    assert begun == BEGIN.keys()


def test_a_statement_reads_rows_by_its_own_time() -> None:
    names = {"view_of", "view_of_values", "query_ms", "View", "View.stored"}
    found = {
        name
        for name, calls in _modules().items()
        if name.startswith("tableformat/statements/")
        and (
            any(_makes(name, {each}) for each in calls & names)
            or any(each.endswith("rowsets.view") for each in calls)
        )
    }
    assert found == ALL_STORED.keys()
