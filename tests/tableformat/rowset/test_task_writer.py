"""A writer of a task removes its files, unless it was closed, and is not used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.tableformat.rowset.task_writer import RowSources, TaskWriter


class Writer(TaskWriter):
    def __init__(self) -> None:
        self.written: list[int] = []
        self.removed = 0

    def write(self, batch: Any, origins: Any = None) -> None:
        with self._at_work():
            self.written.append(10 // batch)

    def close(self) -> tuple[RowSetEntry, ...]:
        with self._at_work():
            self._usable = False
        return ()

    def take_origins(self) -> list[Rows]:
        return []

    def _remove(self) -> None:
        self.removed += 1


def test_a_writer_that_was_closed_keeps_what_it_wrote_and_writes_nothing_more() -> None:
    with Writer() as writer:
        writer.write(1)
        writer.close()
    assert writer.removed == 0
    with pytest.raises(InvalidInputError, match="create a new one"):
        writer.write(1)
    assert writer.written == [10]


def test_a_writer_that_is_left_without_close_removes_what_it_wrote() -> None:
    with Writer() as writer:
        writer.write(1)
    assert writer.removed == 1


def test_a_writer_that_failed_removes_what_it_wrote_and_writes_nothing_more() -> None:
    writer = Writer()
    with pytest.raises(ZeroDivisionError), writer:
        writer.write(0)
    assert writer.removed == 1
    with pytest.raises(InvalidInputError, match="create a new one"):
        writer.close()


def test_origins_are_taken_in_the_order_of_their_rows_however_the_rows_are_divided() -> None:
    sources = RowSources()
    for part in np.split(np.arange(20), [3, 3, 4, 11]):
        sources.add(part)
    taken = [sources.take(count).tolist() for count in (0, 2, 9, 1, 8)]
    assert [row for each in taken for row in each] == [*range(20)]
    assert [len(each) for each in taken] == [0, 2, 9, 1, 8]
