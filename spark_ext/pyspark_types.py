"""Convert schemas between pyspark's objects and tables; the rules are in `types`."""

from __future__ import annotations

import pyspark
from pyspark.sql import types as spark

from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext import types
from colonnade.spark_ext.types import refuse_type, user_defined


def from_spark(schema: spark.StructType) -> TableSchema:
    """Convert a Spark schema to a table schema, without column ids.

    Raises InvalidInputError that names the column and type that cannot be stored.
    """
    _refuse_user_defined(schema, "")
    return types.from_json(schema.jsonValue())


def to_spark(schema: TableSchema) -> spark.StructType:
    """Convert a table schema to a Spark schema; the metadata hold comments and declared lengths."""
    return spark.StructType.fromJson(types.to_json(schema))


def refuse_uncarried(schema: TableSchema, advice: str) -> None:
    """Refuse types that tables hold but the Python data sources of this pyspark cannot carry.

    Raises InvalidInputError that names column and type; `advice` says what to do.
    """
    types.refuse_uncarried(schema, pyspark.__version__, advice)


def _refuse_user_defined(data_type: spark.DataType, path: str) -> None:
    """Refuse user-defined types before the schema becomes JSON: many of them have no JSON."""
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
