"""The pages about Spark leave out nothing that can be called or set."""

from __future__ import annotations

import re
from pathlib import Path

from colonnade.spark_ext.options.names import CHANGES, READING, WRITING
from colonnade.spark_ext.planner.procedures.by_name import PROCEDURES
from colonnade.spark_ext.planner.read.metadata import TABLES
from colonnade.spark_ext.settings import TRANSACTION

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
SETTING = r"spark\.colonnade\.(?!storage|rule)[a-zA-Z.]*[a-zA-Z]"


def test_the_page_names_every_procedure_and_table() -> None:
    text = (DOCS / "spark-sql.md").read_text("utf-8")
    rows = [[*re.split(r" ?\| ?", line)] for line in text.splitlines() if line.startswith("| `")]
    for name, procedure in PROCEDURES.items():
        [row] = [each for each in rows if name in re.findall(r"`(\w+)`", each[1])]
        assert [each.name for each in procedure.parameters] == re.findall(r"`(\w+)`", row[2])
    for name, (schema, _) in TABLES.items():
        [row] = [each for each in rows if each[1] == f"`.{name}`"]
        columns = re.findall(r"(?:^|, )(\w+) \w+", re.sub(r"<[^>]*>", "", schema))
        assert re.findall(r"`(\w+)`", row[3]) == columns


def test_the_pages_name_every_setting_and_option_and_no_other() -> None:
    sources = [file for end in ("py", "java") for file in (ROOT / "spark_ext").rglob(f"*.{end}")]
    code = "".join(file.read_text("utf-8") for file in sources)
    pages = "".join(page.read_text("utf-8") for page in DOCS.glob("*.md"))
    ours = {*re.findall(f'"({SETTING})"', code)} - {TRANSACTION}
    assert {*re.findall(SETTING, pages)} == ours
    _, _, text = (DOCS / "spark.md").read_text("utf-8").partition("\n## Options\n")
    cells = [line.split("|")[1] for line in text.partition("\n## ")[0].splitlines() if "|" in line]
    assert {*re.findall(r"`(\w+)`", " ".join(cells))} | {"where"} == {*READING, *WRITING}


def test_the_page_about_the_feed_names_every_option_of_it() -> None:
    _, _, text = (DOCS / "change-feed.md").read_text("utf-8").partition("\n| option | meaning |\n")
    cells = [line.split("|")[1] for line in text.partition("\n\n")[0].splitlines()]
    assert {*re.findall(r"`(\w+)`", " ".join(cells))} == {*CHANGES}
