"""Settings and answers for tests of WebHDFS that need no server."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import requests

from colonnade.manifests.store.hdfs.address import parse_address
from colonnade.manifests.store.hdfs.settings import HdfsSettings, parse_settings


def settings(http_address: str = "http://node:9870", **options: Any) -> HdfsSettings:
    """The settings of a store at one namenode."""
    given = {"http_address": http_address, **options}
    return parse_settings(given, parse_address("hdfs://node/db"), {}, "somebody")


def answer(status: int = 200, body: Any = None, **headers: str) -> requests.Response:
    """An answer with a JSON body, or with bytes."""
    made = requests.Response()
    made.status_code = status
    made.raw = BytesIO(body if isinstance(body, bytes) else json.dumps(body or {}).encode())
    made.headers.update({name.replace("_", "-"): text for name, text in headers.items()})
    return made


def remote(exception: str, status: int = 403) -> requests.Response:
    """A refusal with the class of the server's exception."""
    found = {"RemoteException": {"exception": exception, "message": "canary"}}
    return answer(status, found)
