"""Hadoop's settings of every kind of store as storage options. Pure.

Spark's tasks reach a store through Hadoop, and Python through a client of its own. A user who has
set up the first needs nothing more for the second. Guide: docs/stores.md
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from colonnade.manifests.store.option_names import with_own_names
from colonnade.spark_ext.hadoop import azure, gcs, hdfs, s3

Options = Callable[[str, Mapping[str, str], Mapping[str, Any]], dict[str, Any]]


class _Kind(NamedTuple):
    """The URLs of a kind of store, the settings about it, and their meaning.

    `secrets_of` names the settings of a URL that may be in Hadoop's credential files.
    """

    url: re.Pattern[str]
    prefixes: tuple[str, ...]
    secrets_of: Callable[[str], tuple[str, ...]]
    with_settings: Options


def _merged(options_of: Options) -> Options:
    return lambda url, settings, given: {**options_of(url, settings, given), **given}


def _nothing(url: str) -> tuple[str, ...]:
    del url
    return ()


_KINDS = (
    # Credential files of S3 have rules of their own, for single buckets.
    _Kind(s3.URL, (s3.PREFIX,), _nothing, s3.with_hadoop),
    *(
        _Kind(each.URL, each.PREFIXES, each.secrets_of, _merged(each.options_of))
        for each in (gcs, azure)
    ),
    _Kind(hdfs.URL, hdfs.PREFIXES, _nothing, _merged(hdfs.options_of)),
)


def with_hadoop(url: str, settings: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a URL: Hadoop's, and the `given` ones, which take precedence.

    `settings` has Hadoop's settings by name. Credentials are taken from one side as a whole. A URL
    of another store has only the given options. Raises InvalidInputError that names a setting
    without a counterpart, and what to give instead.
    """
    kind, own = _kind_of(url), with_own_names(url, given)
    return own if kind is None else kind.with_settings(url, settings, own)


def prefixes_of(url: str) -> tuple[str, ...]:
    """Return what the names of Hadoop's settings for a URL begin with; nothing for other stores."""
    kind = _kind_of(url)
    return () if kind is None else kind.prefixes


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the settings for a URL that Hadoop also looks for in its common credential files."""
    kind = _kind_of(url)
    return () if kind is None else kind.secrets_of(url)


def _kind_of(url: str) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.url.match(url)), None)
