"""Errors that we raise on purpose become one sentence; bugs keep their traceback."""

from __future__ import annotations

import io
import os

import pytest
from pyspark.util import handle_worker_exception

from colonnade.manifests.errors import ConflictError, StoreError
from colonnade.spark_ext.errors import SparkColonnadeError, one_sentence


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")


def shown(error: BaseException) -> str:
    """What a Spark worker sends to the user."""
    out = io.BytesIO()
    handle_worker_exception(error, out)
    return out.getvalue()[8:].decode()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConflictError("Table 'a' changed."), "[COLONNADE_CONFLICT] Table 'a' changed."),
        (StoreError("The disk is full."), "[COLONNADE_STORE] The disk is full."),
    ],
)
def test_an_error_of_ours_is_its_code_and_its_sentence(error: Exception, text: str) -> None:
    with pytest.raises(SparkColonnadeError) as caught, one_sentence():
        raise error
    assert shown(caught.value) == f"SparkColonnadeError: {text}\n"


def test_a_bug_is_shown_with_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as caught, one_sentence():
        print(1 / 0)
    assert os.environ["SPARK_HIDE_TRACEBACK"] == ""
    assert "ZeroDivisionError" in shown(caught.value)
