"""A statement of Spark runs again after a conflict, and after nothing else."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import PySparkException

from colonnade.manifests.errors import ConflictError
from colonnade.spark_ext.table.statements import rerun


class Statement:
    """Fails some times with a sentence, and then returns how often it has run."""

    def __init__(self, failures: int, sentence: str) -> None:
        self.runs, self._failures, self._sentence = 0, failures, sentence

    def run(self) -> int:
        self.runs += 1
        if self.runs <= self._failures:
            raise PySparkException(self._sentence)
        return self.runs


CONFLICT = f"Job aborted: [{ConflictError('').code}] Row 3 has changed.\n\tat org.apache.spark"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, which take no time here."""
    made: list[float] = []
    monkeypatch.setattr(time, "sleep", made.append)
    return made


def test_a_statement_runs_again_after_each_conflict(pauses: list[float]) -> None:
    assert rerun(Statement(9, CONFLICT).run) == 10
    assert len(pauses) == 9


def test_the_tenth_conflict_is_raised_as_one_of_colonnade(pauses: list[float]) -> None:
    statement = Statement(10, CONFLICT)
    with pytest.raises(ConflictError, match=r"^Row 3 has changed\.$"):
        rerun(statement.run)
    assert statement.runs == 10


def test_another_error_of_spark_ends_the_statement(pauses: list[float]) -> None:
    statement = Statement(1, "[DIVIDE_BY_ZERO] Division by zero.")
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        rerun(statement.run)
    assert (statement.runs, pauses) == (1, [])
