"""RowSets with other options than those of their job, such as tiny blocks in a directory."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.write import pipeline


def write_as(monkeypatch: pytest.MonkeyPatch, **chosen: Any) -> None:
    """Let every writer of this process take these options, whatever its job says."""

    def options(**given: Any) -> WriteOptions:
        return WriteOptions(**{**given, **chosen})

    monkeypatch.setattr(pipeline, "WriteOptions", options)
