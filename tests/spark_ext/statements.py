"""The life of a table in SQL: what statements do, whichever way they reach a Spark with the jar.

Results are texts as spark-sql prints them: a line for a row, tabs between its values.
"""

from __future__ import annotations

import re
from typing import Any

ORDERS = "colonnade.shop.orders"
ID = "an id"

ROAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("CREATE NAMESPACE colonnade.shop", ()),
    (f"CREATE TABLE {ORDERS} (id BIGINT NOT NULL, name STRING) CLUSTER BY (id)", ()),
    (f"INSERT INTO {ORDERS} SELECT id, concat('n', id) FROM range(0, 1000, 1, 2)", ()),
    (f"SELECT count(*), min(id), max(id) FROM {ORDERS}", ("1000\t0\t999",)),
    (f"INSERT OVERWRITE {ORDERS} SELECT * FROM {ORDERS} WHERE id < 3", ()),
    (f"ALTER TABLE {ORDERS} ADD COLUMN note STRING", ()),
    (f"INSERT INTO {ORDERS} VALUES (7, NULL, 'late')", ()),
    (
        f"SELECT * FROM {ORDERS} ORDER BY id",
        ("0\tn0\tNULL", "1\tn1\tNULL", "2\tn2\tNULL", "7\tNULL\tlate"),
    ),
    (f"SELECT sum(id), count(name) FROM {ORDERS} VERSION AS OF 2", ("499500\t1000",)),
    (
        f"SELECT old.name FROM {ORDERS} new JOIN {ORDERS} VERSION AS OF 2 old USING (id)"
        " WHERE note = 'late'",
        ("n7",),
    ),
    (
        f"SELECT version, operation FROM {ORDERS}.history ORDER BY version",
        ("1\tCREATE TABLE", "2\tWRITE", "3\tWRITE", "4\tALTER TABLE", "5\tWRITE"),
    ),
    (f"CREATE TABLE colonnade.shop.copy AS SELECT id % 2 AS odd FROM {ORDERS}", ()),
    (
        "SELECT odd, count(*) FROM colonnade.shop.copy GROUP BY odd ORDER BY odd",
        ("0\t2", "1\t2"),
    ),
    ("CALL colonnade.system.checkpoint(table => 'shop.copy')", ("6\t3",)),
    ("CALL colonnade.system.begin('shop')", (ID,)),
    ("DELETE FROM colonnade.shop.copy WHERE odd = 1", ()),
    (f"INSERT INTO {ORDERS} REPLACE WHERE length(name) = 2 VALUES (8, 'n8', NULL)", ()),
    ("CALL colonnade.system.commit()", ("7",)),
    (
        f"SELECT sum(id), count(*), (SELECT count(*) FROM colonnade.shop.copy) FROM {ORDERS}",
        ("15\t2\t2",),
    ),
    ("DROP TABLE colonnade.shop.copy", ()),
    (f"TRUNCATE TABLE {ORDERS}", ()),
    (f"SELECT count(*) FROM {ORDERS}", ("0",)),
    ("CREATE TABLE named (a INT) USING colonnade", ()),
    ("INSERT INTO named VALUES (1), (2)", ()),
    ("SELECT sum(a) FROM named", ("3",)),
    ("DROP TABLE named", ()),
)
"""Statements and their results, in this order; at first no table of theirs exists."""

RESULT = [row for _, rows in ROAD for row in rows]
"""The results of the whole road."""

REFUSED = f"SELECT * FROM {ORDERS} VERSION AS OF 99"
"""A statement that must fail after the road, with `REFUSAL`."""

REFUSAL = "[COLONNADE_NOT_FOUND] Epoch 99 of "


def line(row: Any) -> str:
    """A row as spark-sql prints it, without ids."""
    return masked("\t".join("NULL" if value is None else str(value) for value in row))


def masked(text: str) -> str:
    """With `ID` for every id of a transaction."""
    return re.sub(r"\b[0-9a-f]{32}\b", ID, text)
