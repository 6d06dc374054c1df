"""An `hdfs:` URL leads to the HTTP addresses that Hadoop's settings give its namenodes."""

from __future__ import annotations

from xml.etree.ElementTree import ParseError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.store.hdfs.namenodes import http_urls, parse_site

HA = {
    "dfs.nameservices": "lake, other",
    "dfs.ha.namenodes.lake": "a,b",
    "dfs.namenode.http-address.lake.a": "one:50070",
    "dfs.namenode.http-address.lake.b": "0.0.0.0:50071",
    "dfs.namenode.rpc-address.lake.b": "two:8020",
    "dfs.namenode.https-address.lake.a": "one:50470",
    "dfs.namenode.rpc-address.other": "three:8020",
}


@pytest.mark.parametrize(
    ("authority", "settings", "urls"),
    [
        ("node", {}, ["http://node:9870"]),
        ("node:8020", {}, ["http://node:9870"]),
        ("[::1]:8020", {}, ["http://[::1]:9870"]),
        ("node:8020", {"dfs.namenode.http-address": "0.0.0.0:1234"}, ["http://node:1234"]),
        ("node:8020", {"dfs.namenode.http-address": "node:1234"}, ["http://node:1234"]),
        ("node:8020", {"dfs.namenode.http-address": "elsewhere:1234"}, ["http://node:9870"]),
        (
            "node:8020",
            {"dfs.namenode.http-address": "web:1234", "fs.defaultFS": "hdfs://node:8020/"},
            ["http://web:1234"],
        ),
        ("node:8020", {"dfs.http.policy": "HTTPS_ONLY"}, ["https://node:9871"]),
        ("node", {"dfs.http.policy": "HTTP_AND_HTTPS"}, ["http://node:9870"]),
        ("lake", HA, ["http://one:50070", "http://two:50071"]),
        (
            "lake",
            {**HA, "dfs.http.policy": "https_only"},
            ["https://one:50470", "https://two:9871"],
        ),
        ("other", HA, ["http://three:9870"]),
        ("lake", {"dfs.nameservices": "lake"}, ["http://lake:9870"]),
        ("lake:8020", HA, ["http://lake:9870"]),
    ],
)
def test_settings_of_hadoop_lead_to_the_namenodes_that_they_are_about(
    authority: str, settings: dict[str, str], urls: list[str]
) -> None:
    assert list(http_urls(authority, settings)) == urls


@given(st.dictionaries(st.sampled_from([*HA, "fs.defaultFS", "dfs.http.policy"]), st.text()))
def test_any_settings_give_at_least_one_url_for_any_authority(settings: dict[str, str]) -> None:
    for authority in ("node:8020", "lake", "other"):
        found = http_urls(authority, settings)
        assert found
        assert all(url.startswith(("http://", "https://")) for url in found)


def test_a_file_of_settings_is_read_and_references_are_left_out() -> None:
    text = b"""<?xml version="1.0"?><configuration>
      <property><name> a </name><value> 1 </value><final>true</final></property>
      <property><name>b</name><value>${a}</value></property>
      <property><name>c</name></property>
      <property><value>d</value></property>
    </configuration>"""
    assert parse_site(text) == {"a": "1"}
    with pytest.raises(ParseError):
        parse_site(b"<configuration>")
