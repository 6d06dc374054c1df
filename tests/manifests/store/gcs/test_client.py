"""Credentials of GCS are renewed once, and a refusal of them is one sentence without secrets."""

from __future__ import annotations

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import google.auth.credentials
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.store import PutOutcome
from colonnade.manifests.store.gcs import GcsStore
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import Fault, Seen, answered

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
SLOT = "_manifest/00000000000000000000.json"


class _Renewable(google.auth.credentials.Credentials):  # type: ignore[misc]
    """Credentials whose token has a number, which grows when it is renewed."""

    number = 0

    def refresh(self, request: Any) -> None:
        self.number += 1
        self.token = f"token-{self.number}"


def test_credentials_that_expire_half_way_are_renewed_once(
    proxy: SessionProxy, bucket: str
) -> None:
    credentials = _Renewable()
    options = {"endpoint_url": proxy.url, "token": credentials}
    store = GcsStore(f"gs://{bucket}/{secrets.token_hex(4)}", options)
    store.require_writable()
    expired = answered(401, "{}")

    def plan(seen: Seen) -> Fault | None:
        return expired if seen.headers["authorization"] == "Bearer token-1" else None

    try:
        proxy.plan = plan
        assert store.put_if_absent(SLOT, b"x") is PutOutcome.CREATED
        assert credentials.number == 2
        proxy.plan = lambda seen: expired
        with pytest.raises(StoreError, match="the credentials cannot be used or renewed"):
            store.get(SLOT)
        assert credentials.number == 3
    finally:
        proxy.plan = lambda seen: None


class _TokenServer(BaseHTTPRequestHandler):
    """Refuses to renew a token, with a secret in its answer."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"error": "invalid_grant", "error_description": "canary"}'
        self.send_response(400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


def test_credentials_that_cannot_be_renewed_are_one_sentence(
    proxy: SessionProxy, bucket: str, tmp_path: Path
) -> None:
    server = HTTPServer(("127.0.0.1", 0), _TokenServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key = {
        "type": "service_account",
        "client_email": "canary",
        "private_key": private.decode(),
        "token_uri": f"http://127.0.0.1:{server.server_address[1]}",
    }
    (tmp_path / "key.json").write_text(json.dumps(key))
    for token in (key, str(tmp_path / "key.json")):
        store = GcsStore(f"gs://{bucket}/db", {"endpoint_url": proxy.url, "token": token})
        with pytest.raises(StoreError, match="cannot be used or renewed; run") as refused:
            store.get("a")
        assert "canary" not in refused.value.message
    server.shutdown()
    server.server_close()


def test_a_key_of_an_unknown_type_is_refused() -> None:
    store = GcsStore("gs://bucket/db", {"token": {"type": "canary"}})
    with pytest.raises(InvalidInputError, match="token holds a key of an unknown type") as refused:
        store.get("a")
    assert "canary" not in refused.value.message


@pytest.mark.parametrize("text", [None, "canary", '{"type": "service_account"}', "\0"])
def test_a_key_that_cannot_be_read_is_refused_without_its_text(
    tmp_path: Path, text: str | None
) -> None:
    key = tmp_path / "key.json"
    if text is not None:
        key.write_text(text)
    pem = {
        "type": "service_account",
        "client_email": "a",
        "token_uri": "b",
        "private_key": "canary",
    }
    for token in (str(key), pem):
        with pytest.raises(InvalidInputError, match="is not a key that can be read") as refused:
            GcsStore("gs://bucket/db", {"token": token}).get("a")
        assert refused.value.__context__ is None
        assert "canary" not in refused.value.message


def test_without_credentials_the_command_that_gets_them_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    store = GcsStore("gs://bucket/db", {"patience": 1})
    with pytest.raises(StoreError, match="no credentials were found; run 'gcloud auth"):
        store.get("a")
