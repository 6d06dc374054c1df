"""A writer of a task removes its files, unless it was closed, and is not used again."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.rowset.task_writer import TaskWriter


class Writer(TaskWriter):
    def __init__(self) -> None:
        self.written: list[int] = []
        self.removed = 0

    def write(self, value: int) -> None:
        with self._at_work():
            self.written.append(10 // value)

    def close(self) -> None:
        with self._at_work():
            self._usable = False

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
