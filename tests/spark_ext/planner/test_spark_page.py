"""The page about SQL leaves out nothing that can be called."""

from __future__ import annotations

import re
from pathlib import Path

from colonnade.spark_ext.planner.metadata import TABLES
from colonnade.spark_ext.planner.procedures import PROCEDURES

PAGE = Path(__file__).parents[3] / "docs" / "spark-sql.md"


def test_the_page_names_every_procedure_and_table() -> None:
    text = PAGE.read_text("utf-8")
    rows = [[*re.split(r" ?\| ?", line)] for line in text.splitlines() if line.startswith("| `")]
    for name, procedure in PROCEDURES.items():
        [row] = [each for each in rows if name in re.findall(r"`(\w+)`", each[1])]
        assert [each.name for each in procedure.parameters] == re.findall(r"`(\w+)`", row[2])
    for name, (schema, _) in TABLES.items():
        [row] = [each for each in rows if each[1] == f"`.{name}`"]
        columns = re.findall(r"(?:^|, )(\w+) \w+", re.sub(r"<[^>]*>", "", schema))
        assert re.findall(r"`(\w+)`", row[3]) == columns
