"""Statements of maintenance on one table, whichever way it is named and they reach Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Sql = Callable[[str], list[Any]]
"""Runs a statement and returns its rows."""


def names(folder: Path, database: str = "shop") -> dict[str, tuple[str, str]]:
    """The name of a new table, and how maintenance names it, by the kind of name.

    The tables that have only a path are in `folder`. This process runs in the driver's folder.
    """
    relative = os.path.relpath(f"{folder}/relative")
    return {
        "name": (f"colonnade.{database}.named", f"colonnade.{database}.named"),
        "path": (f"colonnade.`{folder}/at a path`", f"colonnade.`{folder}/at a path`"),
        "relative path": (f"colonnade.`{folder}/relative`", f"colonnade.`{relative}`"),
        "path as text": (f"colonnade.`{folder}/text`", f"'{folder}/text'"),
        "Spark's own catalog": ("spark_catalog.default.own", "spark_catalog.default.own"),
        "Spark's current catalog": ("spark_catalog.default.lone", "lone"),
    }


def walk(sql: Sql, created: str, named: str) -> None:
    """Create a table under one name, and carry out each statement on it under the other."""
    sql(f"CREATE TABLE {created} (id BIGINT, name STRING) USING colonnade")
    for at in range(3):
        sql(f"INSERT INTO {created} SELECT id, 'n' FROM range({at * 10}, {at * 10 + 10})")
    [[before]] = _column(sql(f"DESCRIBE HISTORY {named} LIMIT 1"), "version")
    sql(f"DELETE FROM {created} WHERE id % 2 = 0")
    assert len(sql(f"describe history {named}")) == 5
    assert len(sql(f"DESC HISTORY {named} LIMIT 2;")) == 2

    [done] = sql(f"OPTIMIZE {named} WHERE name = 'n' AND id >= 0 FULL")
    assert done["metrics"]["numFilesRemoved"] == done["metrics"]["filesRemoved"]["totalFiles"] == 3
    assert done["metrics"]["numFilesAdded"] == 1
    [again] = sql(f"OPTIMIZE {named}")
    assert again["metrics"]["numFilesRemoved"] == 0
    assert again["path"] == done["path"]
    [ordered] = sql(f"OPTIMIZE {named} WHERE id < 100 ZORDER BY (id, `name`)")
    assert (ordered["metrics"]["numFilesRemoved"], ordered["metrics"]["numFilesAdded"]) == (1, 1)

    [detail] = sql(f"DESCRIBE DETAIL {named}")
    assert (detail["format"], detail["numRows"], detail["numFiles"]) == ("colonnade", 15, 1)

    epochs = len(sql(f"DESCRIBE HISTORY {named}"))
    [restored] = sql(f"RESTORE TABLE {named} TO VERSION AS OF {before}")
    assert restored["restored"] == before
    assert (restored["num_removed_files"], restored["num_restored_files"]) == (1, 3)
    [detail] = sql(f"DESCRIBE DETAIL {named}")
    assert restored["num_of_files_after_restore"] == detail["numFiles"] == 3
    assert restored["table_size_after_restore"] == detail["sizeInBytes"]
    assert restored["table_size_after_restore"] == restored["restored_files_size"]
    # A compaction that moves rows also writes where they came from.
    assert 0 < restored["removed_files_size"] <= ordered["metrics"]["filesAdded"]["totalSize"]
    assert len(sql(f"DESCRIBE HISTORY {named}")) == epochs + 1, "it was restored once"
    assert _count(sql, created) == 30
    [idle] = sql(f"RESTORE {named} TO TIMESTAMP AS OF now() + INTERVAL '1' SECOND")
    assert (idle["num_removed_files"], idle["num_of_files_after_restore"]) == (0, 3)
    assert _count(sql, created) == 30

    files = [row["path"] for row in sql(f"VACUUM {named} RETAIN 0 HOURS DRY RUN")]
    assert files
    assert all(os.path.exists(each) for each in files)
    assert sql(f"VACUUM {named} DRY RUN") == []
    [kept] = sql(f"/* weekly */ VACUUM {named} RETAIN 168.5 HOURS -- for good")
    assert (kept["path"], kept["files_removed"]) == (done["path"], 0)


def _column(rows: list[Any], name: str) -> list[list[Any]]:
    return [[row[name]] for row in rows]


def _count(sql: Sql, table: str) -> int:
    [[count]] = sql(f"SELECT count(*) FROM {table}")
    return int(count)


REFUSED = {
    "VACUUM {t} RETAIN 24 HOURS": r"call colonnade\.system\.vacuum with force => true",
    "VACUUM {t} LITE": r"from 'LITE' on: it is written VACUUM t \[RETAIN n HOURS\] \[DRY RUN\]",
    "VACUUM {t} RETAIN soon HOURS": r"it is written VACUUM t",
    "VACUUM {t} DRY RUN DRY RUN": r"it is written VACUUM t",
    "OPTIMIZE {t} ZORDER (id)": r"from 'ZORDER' on: it is written OPTIMIZE t \[FULL\]",
    "OPTIMIZE {t} ZORDER BY (id": r"from its end on: it is written OPTIMIZE",
    "OPTIMIZE {t} ZORDER BY (nothing)": r"nothing",
    "OPTIMIZE {t} WHERE id = 'x' + 1": r"",
    "DESCRIBE HISTORY {t} LIMIT few": r"it is written DESCRIBE HISTORY t \[LIMIT n\]",
    "DESCRIBE DETAIL {t} EXTENDED": r"from 'EXTENDED' on: it is written DESCRIBE DETAIL t",
    "RESTORE {t} TO VERSION AS OF": r"from its end on: it is written RESTORE",
    "RESTORE {t} TO YESTERDAY": r"from 'YESTERDAY' on: it is written RESTORE",
    "RESTORE {t} TO VERSION AS OF 'no such tag'": r"no such tag",
    "RESTORE {t} TO VERSION AS OF 999": r"Epoch 999 ",
    "RESTORE {t} TO TIMESTAMP AS OF '2001-01-01'": r"2001",
    "REORG TABLE {t} APPLY (PURGE)": r"OPTIMIZE .* FULL removes its deleted rows",
    "GENERATE symlink_format_manifest FOR TABLE {t}": r"other engines read it as Arrow",
    "CONVERT TO DELTA {t}": r"copy it by CREATE TABLE t USING delta AS SELECT",
    "CONVERT TO COLONNADE parquet.`/data/t`": r"or by the command colonnade import",
    "CREATE TABLE copy SHALLOW CLONE {t}": r"CREATE TABLE t AS SELECT copies its rows",
    "CREATE OR REPLACE TABLE copy CLONE {t}": r"colonnade\.system\.tag keeps its present state",
}
"""Statements on a table `{t}` that are refused, each with a part of the sentence."""


def check_refusals(refusal: Callable[[str], str], table: str) -> None:
    """Each statement of `REFUSED` ends in its one sentence."""
    for statement, sentence in REFUSED.items():
        found = refusal(statement.format(t=table))
        assert found.startswith("[COLONNADE_"), (statement, found)
        assert re.search(sentence, found), (statement, found)
        assert found.endswith("."), (statement, found)
