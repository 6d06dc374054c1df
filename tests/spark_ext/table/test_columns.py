"""The type of a new column as text that Spark reads back."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.table.columns import type_text


def test_a_type_is_text_with_not_null_and_a_comment() -> None:
    pair = spark.StructType([spark.StructField("a", spark.DecimalType(9, 2))])
    assert type_text("int", True, None) == "int"
    assert type_text(pair, False, None) == "struct<a:decimal(9,2)> NOT NULL"
    assert type_text("int", True, "it's \\") == "int COMMENT 'it\\'s \\\\'"
    with pytest.raises(InvalidInputError, match="not 3"):
        type_text(3, True, None)  # type: ignore[arg-type]
