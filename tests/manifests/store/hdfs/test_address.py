"""A URL of HDFS names a namenode and a folder."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.hdfs import HdfsStore
from colonnade.manifests.store.hdfs.address import parse_address


@pytest.mark.parametrize(
    ("url", "place", "shown"),
    [
        ("hdfs://node:8020/a/b/", ("hdfs", "node:8020", "a/b/"), "hdfs://node:8020/a/b"),
        ("HDFS://lake/a b%20/ü#x", ("hdfs", "lake", "a b%20/ü#x/"), "hdfs://lake/a b%20/ü#x"),
        ("webhdfs://[::1]:9870", ("webhdfs", "[::1]:9870", ""), "webhdfs://[::1]:9870"),
    ],
)
def test_a_url_names_a_namenode_and_a_folder(
    url: str, place: tuple[str, str, str], shown: str
) -> None:
    assert parse_address(url) == place
    assert parse_address(url).url == shown
    assert isinstance(open_store(url), HdfsStore)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("hdfs:///a", "names no namenode; write hdfs://namenode:port/folder"),
        ("webhdfs:///a", "names no namenode; write webhdfs://namenode:port/folder"),
        ("hdfs://node/a/../b", "an empty part, '.', '..'"),
        ("hdfs://node/a:b/c", "HDFS allows no ':' in the name of a folder"),
        ("hdfs://canary@node/a", r"pass them as storage options \(user, token\)"),
        ("hdfs://node/a/../b", "write hdfs://namenode:8020/folder"),
        ("hdfs://node/a?delegation=canary", "leave out the '[?]'"),
        ("hdfs://node/" + "x" * 401, "too long"),
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store(url)
    assert "canary" not in refused.value.message
