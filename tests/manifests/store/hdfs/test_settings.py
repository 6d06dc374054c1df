"""Storage options of HDFS are those of fsspec's WebHDFS, and say who asks in one way only."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.hdfs.address import parse_address
from colonnade.manifests.store.hdfs.settings import HdfsSettings, parse_settings

KERBEROS = {"hadoop.security.authentication": "kerberos"}


def parsed(
    options: dict[str, Any], url: str = "hdfs://node:8020/db", site: dict[str, str] | None = None
) -> HdfsSettings:
    return parse_settings(options, parse_address(url), site or {}, "me")


def test_without_options_the_user_of_the_process_asks_the_namenode_of_the_url() -> None:
    found = parsed({})
    assert found.namenodes == ("http://node:9870",)
    assert found.who == {"user.name": "me"}
    assert found.kerberos is None
    assert parsed({}, "webhdfs://node:1234/db").namenodes == ("http://node:1234",)
    assert parsed({}, "webhdfs://node/db").namenodes == ("http://node:9870",)


def test_options_are_those_of_fsspec() -> None:
    assert parsed({"user": "ada", "proxy_to": "bob"}).who == {"user.name": "ada", "doas": "bob"}
    assert parsed({"token": "t"}).who == {"delegation": "t"}
    found = parsed({"kerberos": True, "kerb_kwargs": {"principal": "ada"}})
    assert (found.who, found.kerberos) == ({}, {"principal": "ada"})
    assert parsed({"use_https": True}).namenodes == ("https://node:9871",)
    assert parsed({"use_https": False}).namenodes == ("http://node:9870",)
    assert parsed({"session_verify": "/ca.pem", "session_cert": "/me.pem"}).verify == "/ca.pem"
    assert parsed({"max_paths": 3, "data_proxy": {"a": "b"}}).data_proxy == {"a": "b"}
    assert parsed({"user": "a"}).identity != parsed({"user": "b"}).identity


def test_the_namenodes_may_be_given() -> None:
    for given in ("one:1,two:2", ["one:1", "http://two:2"]):
        assert parsed({"http_address": given}).namenodes == ("http://one:1", "http://two:2")
    assert parsed({"http_address": "one", "use_https": True}).namenodes == ("https://one:9871",)


def test_settings_of_hadoop_that_are_given_go_before_those_of_its_files() -> None:
    address = "dfs.namenode.http-address"
    site = {address: "node:1", "hadoop.security.authentication": "kerberos"}
    found = parsed({"hadoop_settings": {address: "node:2"}}, site=site)
    assert found.namenodes == ("http://node:2",)
    assert found.kerberos == {}


def test_a_secure_cluster_gets_kerberos_unless_the_options_say_who_asks() -> None:
    assert parsed({}, site=KERBEROS).kerberos == {}
    assert parsed({}, site=KERBEROS).who == {}
    assert parsed({"token": "t"}, site=KERBEROS).kerberos is None
    assert parsed({"kerberos": False}, site=KERBEROS).who == {"user.name": "me"}


def test_no_text_of_the_settings_holds_a_secret() -> None:
    for options in ({"token": "canary"}, {"user": "canary"}):
        assert "canary" not in repr(parsed(options))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tokn": "canary"}, "no storage options .'tokn'.; the options are those of fsspec"),
        ({"password": "canary"}, "no storage options .'password'."),
        ({"token": "canary", "user": "canary"}, "token, which says who asks; leave out user"),
        ({"token": "canary", "kerberos": True}, "leave out kerberos"),
        ({"kerberos": True, "user": "canary"}, "leave out user and run kinit"),
        ({"use_https": "canary"}, "use_https .* must be True or False"),
        ({"http_address": "canary:x:y"}, "http_address .* must have the form host:port"),
        ({"http_address": "canary:1/x"}, "http_address .* must have the form host:port"),
        ({"http_address": "http://[canary"}, "http_address .* must have the form host:port"),
        ({"http_address": 3}, "http_address .* must be host:port"),
        ({"kerberos": True, "kerb_kwargs": "canary"}, "kerb_kwargs .* must be a dictionary"),
        ({"data_proxy": "canary"}, "data_proxy .* must be a dictionary of texts"),
        ({"data_proxy": {"canary": 1}}, "data_proxy .* must be a dictionary of texts"),
        ({"session_cert": 3}, "session_cert .* must be a path, or the paths"),
        ({"session_cert": ["canary"] * 3}, "session_cert .* must be a path, or the paths"),
        ({"session_verify": 3}, "session_verify .* must be a path, or False"),
        ({"hadoop_settings": "canary"}, "hadoop_settings .* must be a dictionary of texts"),
        ({"patience": 0}, "patience .* must be a number"),
    ],
)
def test_an_option_that_cannot_work_is_named_and_its_value_is_not(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        parsed(options)
    assert "canary" not in refused.value.message
