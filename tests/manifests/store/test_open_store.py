"""A path or URL names one store, and a misspelled one is refused and makes no folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.store import LocalStore, is_url, open_store
from colonnade.manifests.store.cache.store import CachedStore
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.tableformat.location import locate


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/data/db", "/data/db"),
        ("/data/db/", "/data/db"),
        ("db", "{cwd}/db"),
        ("./a/../db", "{cwd}/db"),
        (Path("db"), "{cwd}/db"),
        ("~/db", "{home}/db"),
        ("a~/db", "{cwd}/a~/db"),
        ("/data/a::b", "/data/a::b"),
        ("/data/s3://b", "/data/s3:/b"),
        ("file:///data/db", "/data/db"),
        ("file:/data/db", "/data/db"),
        ("file:db", "{cwd}/db"),
        ("local:///data/db", "/data/db"),
        ("/data/s3a:/b", "/data/s3a:/b"),
        ("./s3a:/b", "{cwd}/s3a:/b"),
        ("C:/data", "{cwd}/C:/data"),
        ("C:\\data", "{cwd}/C:\\data"),
        ("run:1", "{cwd}/run:1"),
        ("run:1/b", "{cwd}/run:1/b"),
        ("a/b:/c", "{cwd}/a/b:/c"),
        ("2026-01-01T10:00/x", "{cwd}/2026-01-01T10:00/x"),
        ("a b:/c", "{cwd}/a b:/c"),
    ],
)
def test_a_local_path_in_any_form_is_local_disk(
    path: Any, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    store = open_store(path)
    assert isinstance(store, LocalStore)
    assert store.url == root.format(cwd=tmp_path, home="/home/someone")


@pytest.mark.parametrize(
    "url", ["memory://db", "simplecache::memory://db", "simplecache::file:///data/db"]
)
def test_any_other_protocol_is_read_only_and_refused_at_once_to_a_writer(url: str) -> None:
    assert isinstance(open_store(url), FsspecStore)
    with pytest.raises(InvalidInputError, match="read-only"):
        open_store(url, create=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("s3a:/bucket/y", "s3a://bucket/y"),
        ("s3:/typo/lake", "s3://typo/lake"),
        ("S3:bucket/y", "S3://bucket/y"),
        ("dbfs:/x", "/dbfs/x"),
        ("abfss:/c@a.dfs.core.windows.net/t", "abfss://c@a.dfs.core.windows.net/t"),
        ("nosuch:/x", "nosuch://x"),
        ("hdfs:x", "hdfs://x"),
    ],
)
def test_a_text_that_only_begins_like_a_url_makes_no_folder(
    text: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for action in (open_store, is_url, colonnade.create_database, colonnade.open, locate):
        with pytest.raises(InvalidInputError) as refused:
            action(text)
        assert f"{text} begins like a URL but is not one; write {meant}" in refused.value.message
    with pytest.raises(InvalidInputError):
        colonnade.create(text, pa.schema({"a": pa.int64()}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        " s3://canary:canary@bucket/y",
        "\ts3a:/bucket/y",
        "\n hdfs:x",
        "\u00a0file:///data/db",
        " a::b://c",
    ],
)
def test_white_space_before_a_url_makes_no_folder(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = pa.schema({"a": pa.int64()})
    actions: tuple[Callable[[str], object], ...] = (
        open_store,
        is_url,
        colonnade.create_database,
        colonnade.open,
        locate,
        partial(colonnade.create, schema=schema),
    )
    for action in actions:
        with pytest.raises(InvalidInputError, match=r"white space before|begins like") as refused:
            action(text)
        assert "canary" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    assert not is_url(f"./{text}")
    assert not is_url(" folder")


def test_the_home_of_a_user_who_does_not_exist_makes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, schema = "~nobody-of-this-name/t", pa.schema({"a": pa.int64()})
    actions: tuple[Callable[[str], object], ...] = (
        open_store,
        colonnade.open,
        colonnade.open_database,
        colonnade.create_database,
        colonnade.verify,
        locate,
        partial(colonnade.create, schema=schema),
    )
    for action in actions:
        with pytest.raises(InvalidInputError, match=f"does not exist; write ./{text} for"):
            action(text)
    assert not list(tmp_path.iterdir())
    assert colonnade.create(f"./{text}", schema).append(pa.table({"a": [1]})) == 2
    assert [each.name for each in tmp_path.iterdir()] == ["~nobody-of-this-name"]


@pytest.mark.parametrize("url", ["nosuch://bucket/db", "nosuch::file:///db"])
def test_an_unknown_protocol_is_named(url: str) -> None:
    with pytest.raises(InvalidInputError, match="nosuch"):
        open_store(url)


@pytest.mark.parametrize(
    "path", ["", "a\0b", "\ud800", b"/data/db", "file://host/db", "file:", "file://"]
)
def test_an_invalid_path_is_refused(path: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"path|folder"):
        open_store(path)


def test_storage_options_of_a_local_path_are_refused_by_name_and_not_by_value() -> None:
    with pytest.raises(InvalidInputError, match="'key'") as refused:
        open_store("/data/db", {"key": "canary"})
    assert "canary" not in str(refused.value)


def test_only_a_writer_creates_a_folder(tmp_path: Path) -> None:
    open_store(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    open_store(tmp_path / "a" / "b", create=True)
    assert (tmp_path / "a" / "b").is_dir()
    open_store(tmp_path / "a" / "b", create=True)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        open_store(tmp_path / "file" / "db", create=True)


@pytest.mark.parametrize("url", ["s3://lake/db", "gs://lake/db", "az://lake/db", "hdfs://lake/db"])
def test_every_kind_of_store_takes_the_options_of_the_cache(url: str, tmp_path: Path) -> None:
    own = {"account_name": "a"} if url.startswith("az") else {}
    store = open_store(url, {"cache": str(tmp_path), "cache_bytes": 1 << 20, **own})
    assert isinstance(store, CachedStore)
