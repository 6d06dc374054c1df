"""Where the namenodes of an `hdfs:` URL answer HTTP, by Hadoop's settings. Pure.

An `hdfs:` URL names the port for Hadoop's own protocol, or a name of several namenodes. WebHDFS has
other addresses, which are settings in `core-site.xml` and `hdfs-site.xml`.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

HTTP_PORT = 9870
HTTPS_PORT = 9871
"""Hadoop's default ports for WebHDFS, since Hadoop 3."""

_ANY_HOST = frozenset(("", "0.0.0.0", "[::]"))
"""Hosts in settings that mean all addresses of the namenode."""


def parse_site(text: str | bytes) -> dict[str, str]:
    """Return the settings of one of Hadoop's files.

    A setting whose value refers to another setting (`${…}`) is left out. Raises: ParseError.
    """
    found = {}
    for each in ElementTree.fromstring(text).iter("property"):
        name = (each.findtext("name") or "").strip()
        value = (each.findtext("value") or "").strip()
        if name and value and "${" not in value:
            found[name] = value
    return found


def http_urls(authority: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return `http://host:port` of each namenode that `hdfs://<authority>` means; at least one.

    An authority without a port may be the name of a nameservice. Where no setting says otherwise,
    the namenode answers at Hadoop's default port.
    """
    secure = settings.get("dfs.http.policy", "").upper() == "HTTPS_ONLY"
    name = f"dfs.namenode.{'https' if secure else 'http'}-address"
    scheme, port = ("https", HTTPS_PORT) if secure else ("http", HTTP_PORT)
    services = _words(settings.get("dfs.nameservices", ""))
    if authority in services:
        found = _of_service(authority, settings, name)
        if found:
            return tuple(f"{scheme}://{with_port(each, port)}" for each in found)
    host = authority.rpartition(":")[0] if _has_port(authority) else authority
    return (f"{scheme}://{with_port(_of_host(host, authority, settings, name), port)}",)


def with_port(address: str, port: int) -> str:
    """Return `host:port`, with a default port where the address has none."""
    return address if _has_port(address) else f"{address}:{port}"


def _of_service(service: str, settings: Mapping[str, str], name: str) -> list[str]:
    """Return the addresses of the namenodes of a nameservice, as far as settings name them."""
    nodes = _words(settings.get(f"dfs.ha.namenodes.{service}", ""))
    found = []
    for suffix in [f"{service}.{node}" for node in nodes] or [service]:
        rpc = settings.get(f"dfs.namenode.rpc-address.{suffix}", "")
        address = settings.get(f"{name}.{suffix}", "")
        host = rpc.rpartition(":")[0] if _has_port(rpc) else rpc
        if address or host:
            found.append(_reachable(address, host) if address else host)
    return found


def _of_host(host: str, authority: str, settings: Mapping[str, str], name: str) -> str:
    """Return the address of one namenode: a setting counts only if it is about this namenode."""
    address = settings.get(name, "")
    if not address:
        return host
    its = address.rpartition(":")[0] if _has_port(address) else address
    default = settings.get("fs.defaultFS", "").removeprefix("hdfs://").partition("/")[0]
    about = its in _ANY_HOST or its == host or default == authority
    return _reachable(address, host) if about else host


def _reachable(address: str, host: str) -> str:
    """Return an address with a host that a client can ask."""
    its, _, port = address.rpartition(":")
    return f"{host}:{port}" if its in _ANY_HOST and host else address


def _has_port(address: str) -> bool:
    return re.search(r":\d+$", address) is not None


def _words(text: str) -> list[str]:
    return [each for each in re.split(r"[\s,]+", text) if each]
