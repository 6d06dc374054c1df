"""Spark's tasks in the JVM write to local disk alone, so a write to a bucket is refused early."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.writes import _refuse_bucket
from colonnade.tableformat.location import Location


def test_a_write_to_a_bucket_is_refused_before_anything_is_made() -> None:
    with pytest.raises(InvalidInputError, match="s3://bucket/t cannot be written by Spark"):
        _refuse_bucket(Location(open_store("s3a://bucket/t"), None, exists=False))
    _refuse_bucket(Location(open_store("/data/t"), None, exists=False))
