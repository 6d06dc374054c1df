"""Huge values are merged and written without more copies than the result needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade.tableformat.keys import modes
from colonnade.tableformat.statements.keyed import merge

MOST_COPIES = 3.0
PROGRAM = """
import base64, os, sys
import pyarrow as pa
import colonnade

def peak(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

path, mode, text = sys.argv[1:]
kind = pa.large_string()
schema = pa.schema([("k", pa.int64()), ("s", kind)])
table = colonnade.create(path, schema, primary_key=["k"], properties={"merge.s": mode})
table.upsert(pa.table({"k": [0], "s": ["a"]}, schema))
size = 32 * 2**20
for step in range(3):
    one = "x" * size if text == "x" else base64.b64encode(os.urandom(size // 4 * 3)).decode()
    rows = pa.table({"k": [1], "s": [one]}, schema)
    del one
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = peak("VmRSS")
    table.upsert(rows)
    print((peak("VmHWM") - before) / (size * (step + 1)))
assert len(table.get(1)["s"]) == 3 * size + 2 * (mode != "concat")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "text"), [("concat", "x"), ("concat:|", "random")])
def test_a_huge_text_takes_at_most_three_times_its_size_while_it_grows(
    tmp_path: Path, mode: str, text: str
) -> None:
    # Arrow's own allocator gives memory back late, which would count as used.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "t"), mode, text],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    copies = [float(line) for line in done.stdout.split()]
    assert len(copies) == 3
    assert max(copies) < MOST_COPIES, copies


@pytest.mark.long
def test_an_upsert_may_have_more_text_in_a_column_than_one_array_can_hold(tmp_path: Path) -> None:
    part, count = 10_000, 23
    text = pa.array(["v" * 10_000] * part)
    rows = pa.table({"k": np.arange(part * count), "v": pa.chunked_array([text] * count)})
    table = colonnade.create(tmp_path / "t", rows.schema, primary_key=["k"])
    assert table.upsert(rows).rows_inserted == part * count
    assert table.upsert(rows).rows_updated == part * count
    assert table.upsert(rows, on="k").rows_updated == part * count
    assert table.scan(["k"]).to_arrow().num_rows == part * count


SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string()), ("n", pa.list_(pa.int64()))])


def few_bytes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(merge, "PART_LIMIT", most)


@pytest.mark.parametrize("most", [1, 40, 10**9])
def test_rows_are_merged_a_few_bytes_at_a_time(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_bytes(monkeypatch, most)
    how = {"merge.s": "concat:,", "merge.n": "list"}
    table = colonnade.create(tmp_path / "t", SCHEMA, primary_key=["k"], properties=how)
    expected: dict[int, tuple[list[str], list[int]]] = {}
    for step in range(3):
        keys = [(7 * step + 3 * i) % 20 for i in range(9)] * 2
        texts = [f"{step}é{i}" * (i % 5) if i % 4 else None for i in range(18)]
        lists = [[i] * (i % 3) for i in range(18)]
        halves = [pa.table({"k": keys[a:b], "s": texts[a:b], "n": lists[a:b]}, SCHEMA)
                  for a, b in ((0, 7), (7, 18))]  # fmt: skip
        table.upsert(pa.concat_tables(halves))
        for key, one, more in zip(keys, texts, lists, strict=True):
            known = expected.setdefault(key, ([], []))
            known[0].extend([] if one is None else [one])
            known[1].extend(more)
    found = {row["k"]: (row["s"], row["n"]) for row in table.scan().to_arrow().to_pylist()}
    assert found == {
        key: (",".join(texts) if texts else None, numbers)
        for key, (texts, numbers) in expected.items()
    }


def test_a_text_that_grows_beyond_what_a_value_may_take_is_refused_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"merge.s": "concat:--"}
    table = colonnade.create(tmp_path / "t", SCHEMA, primary_key=["k"], properties=how)
    rows = pa.table({"k": [1, 2], "s": ["a", "b" * 50], "n": [[], []]}, SCHEMA)
    table.upsert(rows)
    monkeypatch.setattr(modes, "_MOST_BYTES", 80)
    with pytest.raises(colonnade.InvalidInputError, match=r"'s' .* key k = 2 .* 2 GiB"):
        table.upsert(rows)
    assert table.get(2)["s"] == "b" * 50  # type: ignore[index]


@pytest.mark.long
def test_values_of_a_key_that_are_too_large_together_are_refused_with_it(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t", SCHEMA, primary_key=["k"], properties={"merge.s": "concat"}
    )
    half = pa.table({"k": [5], "s": ["x" * 2**30], "n": [[]]}, SCHEMA)
    table.upsert(half)
    with pytest.raises(colonnade.InvalidInputError, match=r"'s' .* k = 5 .* 2 GiB together"):
        table.upsert(half)
