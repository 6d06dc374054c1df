"""The address of a path in a Spark session: `storage_options` before the session's settings.

The settings are `spark.colonnade.storage.<name>`. SQL statements take no other options.
Guide: docs/spark.md#options-of-the-store
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.manifests.store.option_text import option_values
from colonnade.spark_ext.settings import STORAGE

StorageOptions = Mapping[str, object] | None
"""Options of a store, as its fsspec library names them; None: only those of the session."""


def address_in(
    spark: SparkSession, path: StorePath, options: StorageOptions = None
) -> StoreAddress:
    """Return the address of a path; `options` replace settings of the session by name.

    A local path does not use the settings. An address is returned unchanged. Raises
    InvalidInputError for a text that is not a path, for a setting with invalid text, and for
    `options` of a local path.
    """
    return StoreAddress.of(path, options, partial(_of_session, spark))


def require_session_options(spark: SparkSession, address: StoreAddress, what: str) -> None:
    """Raise InvalidInputError unless a SQL statement opens a store with the options of `address`.

    `what` names the operation that is a SQL statement.
    """
    if address != address_in(spark, address.url):
        raise InvalidInputError(
            f"{what} is a SQL statement, which takes no storage options; set them in the session,"
            f" as {STORAGE}<name>."
        )


def _of_session(spark: SparkSession) -> dict[str, Any]:
    settings = spark.conf.getAll
    return option_values(
        {
            name.removeprefix(STORAGE): text
            for name, text in settings.items()
            if name.startswith(STORAGE)
        }
    )
