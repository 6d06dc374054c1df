"""The schemas of pyspark, as objects, to those of tables and back; `types` has the rules."""

from __future__ import annotations

import pyspark
from pyspark.sql import types as spark

from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext import types
from colonnade.spark_ext.types import refuse_type, user_defined

MAX_TIME_DIGITS = types.max_time_digits(pyspark.__version__)
"""Digits of a second in the finest `time` of this pyspark; only its JVM part would refuse more."""


def from_spark(schema: spark.StructType) -> TableSchema:
    """Read a Spark schema as that of a table. Ids are left unassigned.

    Raises InvalidInputError naming column and type for what cannot be stored.
    """
    _refuse_user_defined(schema, "")
    return types.from_json(schema.jsonValue())


def to_spark(schema: TableSchema) -> spark.StructType:
    """The Spark schema of a table's rows; comments and declared lengths join the metadata."""
    return spark.StructType.fromJson(types.to_json(schema))


def refuse_uncarried(schema: TableSchema, advice: str) -> None:
    """Refuse what tables hold but the Python data sources of this pyspark cannot carry.

    Raises InvalidInputError naming column and type; `advice` says what to do.
    """
    types.refuse_uncarried(schema, pyspark.__version__, advice)


def _refuse_user_defined(data_type: spark.DataType, path: str) -> None:
    """Refuse types of users, of which many have no JSON, before any is asked for its JSON."""
    match data_type:
        case spark.UserDefinedType():
            refuse_type(path, user_defined(type(data_type).__name__))
        case spark.ArrayType():
            _refuse_user_defined(data_type.elementType, f"{path}.element")
        case spark.MapType():
            _refuse_user_defined(data_type.keyType, f"{path}.key")
            _refuse_user_defined(data_type.valueType, f"{path}.value")
        case spark.StructType():
            for field in data_type.fields:
                _refuse_user_defined(field.dataType, f"{path}.{field.name}".lstrip("."))
