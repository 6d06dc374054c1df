"""Text that is not valid UTF-8 in Spark's writes is refused by column and row, or replaced."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.tableformat.statements.reported import decode_report
from colonnade.tableformat.types.conform import conform
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.write_tool import WriteTool, by_python, read
from tests.strategies import identical
from tests.tableformat.types.test_valid_text import (
    KEYS,
    PLACES,
    bad,
    decoded,
    nested_batch,
    numbered,
    text_of,
    with_text,
)

ON = "TBLPROPERTIES ('invalid-text' = 'replace')"
BAD = "CAST(unhex('{}') AS STRING)"


@pytest.mark.parametrize("unsafe", [True, False])
def test_both_writers_store_the_same_text_for_any_bytes(
    writer: WriteTool, folders: Iterator[Path], unsafe: bool
) -> None:
    batch, wanted = nested_batch(random.Random(unsafe), 1500)
    schema = numbered(batch.schema)
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, batch, unsafe=unsafe, invalid_text="replace")
    (expected,) = by_python(other, schema, conform(batch, schema, "replace"))
    found = read(url, schema, [entry])
    assert found.to_pylist() == wanted
    assert identical(found, read(other, schema, [expected]))
    assert entry.statistics == expected.statistics


@pytest.mark.parametrize("descending", [False, True])
def test_rows_whose_sort_key_changes_are_sorted_again(
    writer: WriteTool, folders: Iterator[Path], descending: bool
) -> None:
    rng = random.Random(descending)
    values = [None, *{bad(rng, 3) for _ in range(3000)}]
    values = sorted(values, key=lambda value: (value is not None, value), reverse=descending)
    rows = {"n": pa.array(range(len(values)), pa.int64()), "s": text_of(values)}
    batch = pa.record_batch(rows)
    schema, url = numbered(batch.schema), next(folders)
    key = [SortField(column=2, descending=descending)]
    entries = writer.write(url, schema, batch, unsafe=True, key=key, invalid_text="replace")
    assert len(entries) == 2
    found: dict[int, str | None] = {}
    for entry in entries:
        stored = read(url, schema, [entry])
        texts = [text or "" for text in stored["s"].to_pylist()]
        assert texts == sorted(texts, reverse=descending)
        found.update(zip(stored["n"].to_pylist(), stored["s"].to_pylist(), strict=True))
    assert found == dict(enumerate(decoded(values)))


def test_a_new_row_is_distinguished_from_old_rows_after_a_sort(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    values: list[bytes | None] = [b"\x80", b"a", b"b\xff", b"\xf0\x9f\x98\x80", b"\xff"]
    batch = pa.record_batch({"n": pa.array(range(5), pa.int64()), "s": text_of(values)})
    schema, url = numbered(batch.schema), next(folders)
    key = [SortField(column=2)]
    answer = writer.answer(
        url, schema, batch, key=key, invalid_text="replace", unsafe=True, inserted=[2, 3]
    )
    report = decode_report(answer["entries"])
    numbers = [read(url, schema, [entry])["n"].to_pylist() for entry in report.rowsets]
    assert numbers == [[1, 3], [2, 0, 4]]
    assert {at: [*rows] for at, rows in report.inserted.items()} == {0: [1, 2]}


@pytest.mark.parametrize("unsafe", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_a_refusal_names_column_and_row_of_the_input_of_the_task(
    writer: WriteTool, folders: Iterator[Path], place: str, unsafe: bool
) -> None:
    value, kind, path = PLACES[place]
    column = pa.array([None] * 70_000 + [value], kind).view(with_text(kind))
    parts = pa.array([n % 3 for n in range(70_001)], pa.int64())
    batch = pa.record_batch({"c": column, "p": parts})
    schema = numbered(batch.schema)
    fields = [PartitionField(transform="identity", column=schema.fields[1].id)]
    sentence = f"Column {path} has an invalid string in row 70001 of the task's input, counted"
    assert sentence in writer.error(next(folders), schema, batch, unsafe=unsafe)
    refused = writer.error(next(folders), schema, batch, unsafe=unsafe, partitioned_by=fields)
    assert sentence in refused


@pytest.mark.parametrize("case", KEYS)
def test_keys_of_a_map_that_would_become_the_same_are_refused(
    writer: WriteTool, folders: Iterator[Path], case: str
) -> None:
    kind, (one, other) = KEYS[case]
    plain = pa.map_(kind, pa.int64())
    maps = pa.array([[(one, 1)], [(other, 2)], [(one, 1), (other, 2)]], plain)
    batch = pa.record_batch({"m": maps.view(with_text(plain))})
    schema = numbered(batch.schema)
    writer.write(next(folders), schema, batch.slice(0, 2), invalid_text="replace")
    sentence = "Column 'm' has a map with two keys that become equal once U+FFFD replaces bytes"
    assert sentence in writer.error(next(folders), schema, batch, invalid_text="replace")


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With an empty table `colonnade.bad.t`, sorted and partitioned by text that is replaced."""
    spark_shell.sql("CREATE DATABASE colonnade.bad")
    spark_shell.sql(
        "CREATE TABLE colonnade.bad.t (s STRING, p STRING, n BIGINT) PARTITIONED BY (p)"
        " TBLPROPERTIES ('invalid-text' = 'replace', sortKey = 's')"
    )
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.bad CASCADE")


@pytest.mark.spark_compat
@pytest.mark.matrix
def test_every_statement_of_spark_replaces_text(spark: SparkShell) -> None:
    table = colonnade.open(spark.folder / "warehouse" / "bad" / "t")
    select = "SELECT s, p, n FROM colonnade.bad.t ORDER BY n"
    ff, fe, part = BAD.format("61ff"), BAD.format("61fe"), BAD.format("70ff")
    spark.sql(f"INSERT INTO colonnade.bad.t VALUES ({ff}, {part}, 1), ('\U0001f600', 'p\ufffd', 2)")
    assert spark.sql(select) == [["a\ufffd", "p\ufffd", 1], ["\U0001f600", "p\ufffd", 2]]
    spark.sql(f"UPDATE colonnade.bad.t SET s = concat({fe}, n) WHERE s = 'a\ufffd'")
    assert spark.sql(select)[0] == ["a\ufffd1", "p\ufffd", 1]
    source = f"SELECT {ff} s, {part} p, 1L n UNION ALL SELECT {fe}, 'q', 3L"
    spark.sql(
        f"MERGE INTO colonnade.bad.t t USING ({source}) s ON t.n = s.n"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = [["a\ufffd", "p\ufffd", 1], ["\U0001f600", "p\ufffd", 2], ["a\ufffd", "q", 3]]
    assert spark.sql(select) == rows
    frame = f'spark.sql("SELECT {BAD.format("7aff")} s, {part} p, 9L n")'
    spark.run(f"{frame}.writeTo('colonnade.bad.t').overwrite(F.col('s') == 'z\ufffd')")
    assert spark.sql(select) == [*rows, ["z\ufffd", "p\ufffd", 9]]
    spark.run(f"{frame}.writeTo('colonnade.bad.t').overwritePartitions()")
    assert spark.sql(select) == [rows[2], ["z\ufffd", "p\ufffd", 9]]
    spark.run(f'{frame}.write.format("colonnade").mode("append").save("{table.path}")')
    assert spark.sql("SELECT count(*) FROM colonnade.bad.t WHERE s = 'z\ufffd'") == [[2]]
    refused = f"{frame}.writeTo('colonnade.bad.t').overwrite(F.col('s') == 'y')"
    assert "do not meet the condition" in spark.refused_run(refused)
    assert colonnade.open(table.path).verify().is_sound


def test_an_update_that_replaces_columns_replaces_text(spark: SparkShell) -> None:
    wide = ", ".join(f"rand({i}) AS c{i}" for i in range(8))
    select = f"SELECT id, 'a' AS s, {wide} FROM range(6000)"
    spark.sql(f"CREATE TABLE colonnade.bad.w {ON} AS {select}")
    value = BAD.format("61f09f98")
    update = (
        f"colonnade.Table.forName(spark, 'colonnade.bad.w').update('id > 5', {{'s': \"{value}\"}})"
    )
    assert spark.run(f"{update}.metrics()")["rowsets_in_place"] == 1
    found = "SELECT s, count(*) FROM colonnade.bad.w GROUP BY s ORDER BY s"
    assert spark.sql(found) == [["a", 6], ["a\ufffd", 5994]]


@pytest.mark.spark_compat
@pytest.mark.matrix
def test_the_property_is_shown_and_checked_and_may_change(spark: SparkShell) -> None:
    alter = "ALTER TABLE colonnade.bad.t SET TBLPROPERTIES ('invalid-text' = '{}')"
    shown = "SHOW TBLPROPERTIES colonnade.bad.t ('invalid-text')"
    assert spark.sql(shown) == [["invalid-text", "replace"]]
    assert "must be 'refuse' or 'replace', not 'Keep'" in spark.refusal(alter.format("Keep"))
    assert "must be" in spark.refusal(
        "CREATE TABLE colonnade.bad.u (s STRING) TBLPROPERTIES ('invalid-text' = 'x')"
    )
    spark.sql(alter.format("refuse"))
    insert = f"INSERT INTO colonnade.bad.t VALUES ({BAD.format('ff')}, 'p', 1)"
    sentence = "[COLONNADE_INVALID_INPUT] Column 's' has an invalid string in row 1 of the task's"
    assert spark.refusal(insert).startswith(sentence)
    assert spark.sql("SELECT count(*) FROM colonnade.bad.t") == [[0]]
    deep = BAD.format("f09f98")
    spark.sql(
        f"CREATE TABLE colonnade.bad.v {ON} AS SELECT array({deep}) a, map('k', {deep}) m,"
        f" named_struct('x', {deep}) st"
    )
    assert spark.sql("SELECT a[0], m['k'], st.x FROM colonnade.bad.v") == [["\ufffd"] * 3]
