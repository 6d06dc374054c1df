"""Clients are shared within a process, and loaded only where they are used."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.client import client_of
from colonnade.manifests.store.s3.settings import parse_settings
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
ROOT = Path(__file__).resolve().parents[4]


def test_equal_options_share_their_connections_within_a_process(
    store: S3Store, minio: Minio, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = pickle.loads(pickle.dumps(store))
    assert client_of(again._settings) is store.client
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert client_of(again._settings) is client_of(store._settings)
    monkeypatch.undo()
    for other in ({"secret": "x", "key": "x"}, {"s3_additional_kwargs": {"ACL": "private"}}):
        options = {**minio.options(), **other}
        assert client_of(parse_settings(options, "s3://bucket")) is not client_of(
            parse_settings(minio.options(), "s3://bucket")
        )


def test_without_its_client_a_bucket_is_refused_with_the_command_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [each for each in sys.modules if each.startswith("colonnade.manifests.store.s3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(InvalidInputError, match=r"install colonnade\[s3\]"):
        open_store("s3://bucket/db")


def test_colonnade_loads_no_client_that_it_does_not_use() -> None:
    code = "import sys, colonnade; sys.exit('botocore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
    importlib.import_module("colonnade.manifests.store.s3")
