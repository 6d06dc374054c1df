"""Hadoop's settings for S3 (`fs.s3a.*`) as storage options in s3fs's names. Pure.

Spark's tasks reach a bucket through Hadoop, and Python through botocore. A user who has set up the
first needs nothing more for the second. Guide: docs/stores.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.settings import STORAGE

PREFIX = "fs.s3a."
UNREADABLE = "colonnade.credentials.unreadable"
"""The setting that holds the reason why the JVM could not read Hadoop's credential files."""

_PROVIDERS = f"{PREFIX}aws.credentials.provider"
_ROLE = "assumed.role."
URL = re.compile(r"s3a?://([^/?]*)", re.IGNORECASE)
_REGION_OF = re.compile(
    r"(?:https?://)?s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?/?"
)
_CENTRAL = re.compile(r"(?:https?://)?s3\.amazonaws\.com/?")
_DURATION = re.compile(r"(\d{1,6})(s|m|h)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 1}

_CREDENTIALS = frozenset(
    ("key", "username", "secret", "password", "token", "profile", "anon", "assume_role")
)
_DEFAULT_PROVIDERS = (
    *("TemporaryAWSCredentialsProvider", "SimpleAWSCredentialsProvider"),
    *("EnvironmentVariableCredentialsProvider", "IAMInstanceCredentialsProvider"),
)
_ANONYMOUS = ("AnonymousAWSCredentialsProvider", "AnonymousCredentialsProvider")
_CHAIN = (
    *("EnvironmentVariableCredentialsProvider", "IAMInstanceCredentialsProvider"),
    *("InstanceProfileCredentialsProvider", "ContainerCredentialsProvider"),
    *("EC2ContainerCredentialsProviderWrapper", "DefaultCredentialsProvider"),
    *("DefaultAWSCredentialsProviderChain", "ProfileCredentialsProvider"),
    *("WebIdentityTokenFileCredentialsProvider", "WebIdentityTokenCredentialsProvider"),
)
"""Providers that look where botocore looks by itself. It asks them all, in an order of its own."""

_ENCRYPTION = {"AES256": "AES256", "SSE-KMS": "aws:kms", "DSSE-KMS": "aws:kms:dsse"}
_UNTRANSLATED = (
    "custom.signers",
    "signing-algorithm",
    "accesspoint.arn",
    "delegation.token.binding",
)
_HINT = f"{STORAGE}key and {STORAGE}secret, or {STORAGE}profile, or {STORAGE}anon"


def with_hadoop(url: str, settings: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a URL: Hadoop's, and the `given` ones, which take precedence.

    `settings` has Hadoop's settings by name. Settings of one bucket (`fs.s3a.bucket.<name>.*`) take
    precedence over settings of all buckets. Credentials are taken from one side as a whole. A URL
    of another store has only the given options. Raises InvalidInputError that names a setting
    without a counterpart, and what to give instead.
    """
    bucket = bucket_of(url)
    if bucket is None or not settings:
        return dict(given)
    hadoop = _Settings(_of_bucket(settings, bucket))
    options = {**hadoop.server(given), **hadoop.of_writing(given)}
    if hadoop.text("requester.pays.enabled").lower() == "true":
        options["requester_pays"] = True
    in_client = any(name.startswith("aws_") for name in _mapping(given, "client_kwargs"))
    if not in_client and not _CREDENTIALS & given.keys():
        options |= hadoop.credentials()
    merged = {**options, **given}
    for name in ("client_kwargs", "config_kwargs"):
        if name in options and name in given:
            merged[name] = {**options[name], **_mapping(given, name)}
    return merged


def bucket_of(url: str) -> str | None:
    """Return the bucket that a URL of `s3:` or `s3a:` names; None for any other URL or path."""
    found = URL.match(url)
    return None if found is None else found[1]


def _of_bucket(settings: Mapping[str, str], bucket: str) -> dict[str, str]:
    """Return the settings that count for a bucket, without the prefix of their names."""
    own = f"{PREFIX}bucket.{bucket}."
    every = {name.removeprefix(PREFIX): text for name, text in settings.items()}
    return every | {
        name.removeprefix(own): text for name, text in settings.items() if name.startswith(own)
    }


def _mapping(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = options.get(name)
    return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True, repr=False)
class _Settings:
    """The settings for one bucket. Without a `repr`, because they hold secrets."""

    texts: Mapping[str, str]

    def text(self, *names: str) -> str:
        """Return the first of these settings that says something, or an empty text."""
        return next((found for name in names if (found := self.texts.get(name, "").strip())), "")

    def server(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return where the server is, and how to speak to it."""
        for name in _UNTRANSLATED:
            if self.text(name):
                raise InvalidInputError(
                    f"Hadoop's setting {PREFIX}{name} has no counterpart for Colonnade's planner:"
                    " leave it out for this bucket."
                )
        endpoint, region = self.text("endpoint"), self.text("endpoint.region")
        amazon = _REGION_OF.fullmatch(endpoint)
        options: dict[str, Any] = {}
        if region.lower() in ("", "sdk"):
            region = amazon[1] if amazon else ""
        if region:
            options["client_kwargs"] = {"region_name": region}
        elsewhere = endpoint and not amazon and not _CENTRAL.fullmatch(endpoint)
        if elsewhere and "endpoint_url" not in {*given, *_mapping(given, "client_kwargs")}:
            plain = self.text("connection.ssl.enabled").lower() == "false"
            scheme = "http" if plain else "https"
            options["endpoint_url"] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
        config: dict[str, Any] = {}
        if self.text("path.style.access").lower() == "true":
            config["s3"] = {"addressing_style": "path"}
        if self.text("proxy.host"):
            config["proxies"] = dict.fromkeys(("http", "https"), self._proxy())
        return {**options, "config_kwargs": config} if config else options

    def _proxy(self) -> str:
        secure = self.text("proxy.ssl.enabled").lower() == "true"
        user, password = self.text("proxy.username"), self.text("proxy.password")
        who = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user else ""
        port = self.text("proxy.port") or ("443" if secure else "80")
        return f"{'https' if secure else 'http'}://{who}{self.text('proxy.host')}:{port}"

    def of_writing(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what each object that is written is sent with."""
        if "s3_additional_kwargs" in given:
            return {}
        sent: dict[str, str] = {}
        wanted = self.text("encryption.algorithm", "server-side-encryption-algorithm")
        if wanted:
            if wanted.upper() not in _ENCRYPTION:
                raise InvalidInputError(
                    f"Hadoop's setting {PREFIX}encryption.algorithm is {wanted}, and Colonnade's"
                    f" planner can only use {', '.join(_ENCRYPTION)}."
                )
            sent["ServerSideEncryption"] = _ENCRYPTION[wanted.upper()]
            key = self.text("encryption.key", "server-side-encryption.key")
            if key and wanted.upper() != "AES256":
                sent["SSEKMSKeyId"] = key
        if acl := self.text("acl.default"):
            sent["ACL"] = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", acl).lower()
        return {"s3_additional_kwargs": sent} if sent else {}

    def credentials(self) -> dict[str, Any]:
        """Return the credentials of the first provider that has some."""
        providers = self._classes("aws.credentials.provider") or _DEFAULT_PROVIDERS
        if "AssumedRoleCredentialProvider" in providers[0]:
            return self._role()
        return self._of_providers("aws.credentials.provider", providers)

    def _classes(self, name: str) -> tuple[str, ...]:
        return tuple(filter(None, re.split(r"[\s,]+", self.text(name))))

    def _of_providers(self, setting: str, providers: tuple[str, ...]) -> dict[str, Any]:
        key, secret = self.text("access.key"), self.text("secret.key")
        token = self.text("session.token")
        pair = {"key": key, "secret": secret} if key and secret else {}
        if not pair and (why := self.text(UNREADABLE)):
            raise InvalidInputError(
                f"Hadoop's credential files could not be read ({why}), so Colonnade's planner has"
                f" no credentials; mend them, or set {_HINT}."
            )
        for provider in providers:
            kind = re.split(r"[.$]", provider)[-1]
            if kind in _ANONYMOUS:
                return {"anon": True}
            if kind in _CHAIN:
                return {}
            if kind == "TemporaryAWSCredentialsProvider":
                if pair and token:
                    return {**pair, "token": token}
            elif kind != "SimpleAWSCredentialsProvider":
                raise InvalidInputError(
                    f"Hadoop's setting {PREFIX}{setting} names {provider}, which has no counterpart"
                    f" for Colonnade's planner; set {_HINT}."
                )
            elif pair:
                return pair
        raise InvalidInputError(
            f"Hadoop's setting {PREFIX}{setting} needs {PREFIX}access.key and {PREFIX}secret.key,"
            f" which are not set; set them, or {_HINT}."
        )

    def _role(self) -> dict[str, Any]:
        """Return the role to assume, and the credentials of the user who assumes it."""
        role = {
            "role_arn": self.text(f"{_ROLE}arn"),
            "session_name": self.text(f"{_ROLE}session.name") or "colonnade",
            "external_id": self.text(f"{_ROLE}external.id"),
            "policy": self.text(f"{_ROLE}policy"),
            "endpoint_url": self._sts(),
            "region_name": self.text(f"{_ROLE}sts.endpoint.region"),
        }
        if not role["role_arn"]:
            raise InvalidInputError(
                f"Hadoop's setting {PREFIX}{_ROLE}arn is not set, and {_PROVIDERS} needs it;"
                f" set it, or {_HINT}."
            )
        length = _DURATION.fullmatch(self.text(f"{_ROLE}session.duration").lower() or "30m")
        if length is None:
            raise InvalidInputError(
                f"Hadoop's setting {PREFIX}{_ROLE}session.duration must be like 30m or 1h."
            )
        setting = f"{_ROLE}credentials.provider"
        base = self._classes(setting) or (
            *("SimpleAWSCredentialsProvider", "EnvironmentVariableCredentialsProvider"),
        )
        given = {name: text for name, text in role.items() if text}
        seconds = int(length[1]) * _SECONDS[length[2]]
        return {
            **self._of_providers(setting, base),
            "assume_role": {**given, "duration_s": seconds},
        }

    def _sts(self) -> str:
        endpoint = self.text(f"{_ROLE}sts.endpoint")
        return endpoint if not endpoint or "://" in endpoint else f"https://{endpoint}"
