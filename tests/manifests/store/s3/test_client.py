"""Clients are shared within a process, and loaded only where they are used."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.client import client_of
from colonnade.manifests.store.s3.settings import parse_settings
from tests.setup.certificates import Authority
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
        assert client_of(parse_settings(options, "s3://bucket", {})) is not client_of(
            parse_settings(minio.options(), "s3://bucket", {})
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


@pytest.mark.long
def test_a_server_with_a_certificate_of_ones_own_is_reached_by_option_or_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "authority")
    (tmp_path / "server").mkdir()
    server = Minio(tmp_path / "server", authority.server)
    url, rows = f"s3://{server.new_bucket()}", pa.table({"id": [*range(300_000)]})
    plain = server.options(patience=1)
    place = {"region_name": "us-east-1", "verify": str(authority.certificate)}
    told = {**plain, "client_kwargs": place}
    try:
        colonnade.create(f"{url}/told", rows.schema, storage_options=told).append(rows)
        assert colonnade.open(f"{url}/told", storage_options=told).scan().to_arrow().equals(rows)
        with pytest.raises(StoreError, match="certificate of the server is not trusted"):
            colonnade.open(f"{url}/told", storage_options=plain)
        monkeypatch.setenv("AWS_CA_BUNDLE", str(authority.certificate))
        # Clients are shared by their options, and the environment counts when one is made.
        again = {**plain, "patience": 2}
        assert colonnade.open(f"{url}/told", storage_options=again).scan().to_arrow().equals(rows)
    finally:
        server.stop()


def test_options_that_no_client_takes_are_refused_once_and_not_by_each_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []

    def fail(*settings: object) -> None:
        made.append(settings)
        raise InvalidInputError("refused")

    monkeypatch.setattr("colonnade.manifests.store.s3.client.S3Client.__init__", fail)
    with pytest.raises(InvalidInputError, match="refused"):
        colonnade.open("s3://bucket/lake/trips", storage_options={"endpoint_url": "nowhere"})
    assert len(made) == 1


def test_credentials_that_come_or_change_later_are_found(
    minio: Minio, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    keys = tmp_path / "keys"
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys))
    options = minio.options()
    key, secret = options.pop("key"), options.pop("secret")
    store = S3Store(f"s3://{minio.new_bucket()}/t", options)
    with pytest.raises(StoreError, match="no credentials were found"):
        store.get("a")
    keys.write_text(f"[default]\naws_access_key_id = old\naws_secret_access_key = {secret}\n")
    with pytest.raises(StoreError, match="does not know the access key"):
        store.get("a")
    keys.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
    with pytest.raises(NotFoundError):
        store.get("a")
