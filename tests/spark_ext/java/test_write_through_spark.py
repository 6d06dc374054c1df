"""Spark's tasks leave RowSets in the order of the sort key, and errors that say one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.sort import sort_indices
from tests.spark_ext.java.write_road import KEYS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "tests.spark_ext.java.write_road", str(folder)]
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment, timeout=300)
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "seen.json").read_text()))


@pytest.mark.parametrize("turn", range(len(KEYS)))
def test_every_rowset_is_in_the_order_of_the_sort_key(folder: Path, turn: int) -> None:
    path = folder / f"sorted{turn}"
    store = LocalStore(path)
    log = Log(store)
    snapshot = log.read_head()
    (table,) = snapshot.tables.values()
    assert len(table.sort_key) == len(KEYS)
    entries = [live.entry for live in log.read_entries(table)]
    assert len(entries) == 3
    for entry in entries:
        found = [
            b
            for _, b in RowSetReader(store, table.prefix, as_written(entry)).read(
                table.schema.fields
            )
        ]
        (batch,) = pa.Table.from_batches(found).combine_chunks().to_batches()
        columns = {f.id: batch.column(i) for i, f in enumerate(table.schema.fields)}
        order = sort_indices(columns, table.sort_key).to_pylist()
        # A stable sort of sorted rows moves no row.
        assert order == list(range(batch.num_rows))


def test_what_is_refused_in_a_task_reaches_the_user_as_the_same_sentence(
    folder: Path, seen: dict[str, Any]
) -> None:
    sentence = "[COLONNADE_INVALID_INPUT] Column 's' holds no valid string in row "
    assert sentence in seen["broken text"]
    assert colonnade.open(folder / "texts").scan().to_arrow().to_pylist() == [{"s": "a"}]
