"""The address of a path in a Spark session: `storage_options` before the session's settings.

The settings are `spark.colonnade.storage.<name>`, and after them Hadoop's for the store. SQL
statements take no other options.
Guide: docs/spark-sessions.md#options-of-the-store
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.manifests.store.option_text import option_values
from colonnade.manifests.store.path_text import local_path
from colonnade.spark_ext.hadoop.s3 import PREFIX, bucket_of
from colonnade.spark_ext.hadoop.stores import prefixes_of, secrets_of, with_hadoop
from colonnade.spark_ext.settings import STORAGE

StorageOptions = Mapping[str, object] | None
"""Options of a store, as its fsspec library names them; None: only those of the session."""

_HADOOP = "spark.hadoop."
_FILES = "security.credential.provider.path"
_PASSWORDS = ("access.key", "secret.key", "session.token")


def address_in(
    spark: SparkSession, path: StorePath, options: StorageOptions = None
) -> StoreAddress:
    """Return the address of a path; `options` replace settings of the session by name.

    A local path does not use the settings. An address is returned unchanged. Raises
    InvalidInputError for a text that is not a path, for a setting with invalid text, and for
    `options` of a local path.
    """
    if not isinstance(options, Mapping | None) or isinstance(path, StoreAddress):
        return StoreAddress.of(path, options)
    if local_path(str(path)) is not None:
        return StoreAddress.of(path, options)
    url, given = str(path), {**_of_session(spark), **(options or {})}
    return StoreAddress.of(path, with_hadoop(url, _of_hadoop(spark, url), given))


def refuse_filesystem(address: StoreAddress) -> None:
    """Raise InvalidInputError for an address with a file system of Python.

    Tasks of Spark reach a store through Hadoop, and by its URL alone.
    """
    if address.filesystem is not None:
        raise InvalidInputError(
            f"{address.url} was opened with a file system of Python, which Spark's tasks do not"
            " have; open it for Spark by its URL, with storage options where it needs them."
        )


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


def _of_hadoop(spark: SparkSession, url: str) -> dict[str, str]:
    """Return the session's settings of Hadoop for the store of a URL. They hold secrets.

    A client of Spark Connect only sees those that are settings of Spark.
    """
    prefixes = prefixes_of(url)
    if not prefixes:
        return {}
    session = getattr(spark, "_jsparkSession", None)
    if session is None:
        texts = {name.removeprefix(_HADOOP): text for name, text in spark.conf.getAll.items()}
        return {name: text for name, text in texts.items() if name.startswith(prefixes)}
    hadoop = session.sessionState().newHadoopConf()
    mapper = spark.sparkContext._jvm.com.fasterxml.jackson.databind.ObjectMapper()  # type: ignore[union-attr]
    found: dict[str, str] = {}
    for prefix in prefixes:
        texts = json.loads(mapper.writeValueAsString(hadoop.getPropsWithPrefix(prefix)))
        found |= {f"{prefix}{name}": text for name, text in texts.items() if text.strip()}
    if bucket_of(url) is None:
        found = {name: text for name, text in found.items() if not _is_default(hadoop, name)}
    return found | _of_credential_files(hadoop, found, url)


def _is_default(hadoop: Any, name: str) -> bool:
    """Return whether a setting has the value that Hadoop itself gives it."""
    sources = hadoop.getPropertySources(name)
    return bool(sources) and str(sources[len(sources) - 1]).endswith("-default.xml")


def _of_credential_files(hadoop: Any, found: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the credentials for a URL that are in Hadoop's credential files."""
    wanted, paths = list(secrets_of(url)), [hadoop.get(f"hadoop.{_FILES}") or ""]
    bucket = bucket_of(url)
    if bucket is not None:
        own = f"{PREFIX}bucket.{bucket}."
        paths = [*(found.get(f"{prefix}{_FILES}", "") for prefix in (own, PREFIX)), *paths]
        wanted = [f"{prefix}{name}" for prefix in (PREFIX, own) for name in _PASSWORDS]
    if not any(paths):
        return {}
    hadoop.set(f"hadoop.{_FILES}", ",".join(filter(None, paths)))
    secrets = ((name, hadoop.getPassword(name)) for name in wanted)
    return {name: "".join(secret) for name, secret in secrets if secret is not None}
