"""Parse the text that names a store: a path on local disk, or a URL of another store. Pure.

A text that begins like a URL is a URL or an error, never a folder named `s3a:`. A later colon
belongs to a file name.
Spec: docs/stores.md#paths-and-urls
"""

from __future__ import annotations

import re

from colonnade.manifests.errors import InvalidInputError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://|::)")
_LOCAL = re.compile(r"(?:file|local):(?://(?=/))?")

# A single letter is a drive, as in C:/data.
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?P<rest>.*)", re.DOTALL)

_KNOWN_SCHEMES = frozenset(
    (
        *("s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "adl", "az", "azure"),
        *("dbfs", "hdfs", "viewfs", "webhdfs", "http", "https", "ftp", "sftp", "ssh", "smb"),
        *("oss", "cosn", "obs", "oci", "r2", "minio", "swift", "hf", "memory", "dropbox", "gdrive"),
    )
)
"""Schemes that never begin the name of a folder, even if no slash follows."""


def local_path(text: str) -> str | None:
    """Return the path on local disk that `text` means; None for a URL of another store.

    Raises InvalidInputError for a `file:` URL without a folder. It also raises it for a text that
    begins like a URL and is not one, or begins with white space before a URL; the message shows the
    right spelling.
    """
    _check_beginning(text)
    local = _LOCAL.match(text)
    if local is not None:
        path = text[local.end() :]
        if not path or path.startswith("//") or "::" in text:
            raise InvalidInputError(
                f"{text} names no folder on local disk; give a plain path or file:///absolute/path."
            )
        return path
    if _URL.match(text):
        return None
    like_url = _SCHEME.match(text)
    if like_url is not None:
        scheme, rest = like_url["scheme"], like_url["rest"]
        if rest.startswith("/") or scheme.lower() in _KNOWN_SCHEMES:
            raise InvalidInputError(_misspelled(text, scheme, rest.lstrip("/")))
    return text


def _check_beginning(text: str) -> None:
    """Refuse white space before a URL, which is copied easily and would make it a folder."""
    rest = text.lstrip()
    if len(rest) < len(text) and (_LOCAL.match(rest) or local_path(rest) is None):
        # Only the scheme is shown, because the rest may hold credentials.
        raise InvalidInputError(
            f"The path has white space before {rest.partition(':')[0]}:; leave it out, so that the"
            " path is a URL."
        )


def is_url(text: str) -> bool:
    """Return whether `text` is a URL (`file:` included) and not a plain path.

    Raises as `local_path`.
    """
    return local_path(text) is None or _LOCAL.match(text) is not None


def _misspelled(text: str, scheme: str, rest: str) -> str:
    meant = f"{scheme}://{rest}"
    if scheme.lower() == "dbfs":
        meant = f"/dbfs/{rest}, where Databricks mounts it"
    return (
        f"{text} begins like a URL but is not one; write {meant}, or ./{text} for a folder of that"
        " name."
    )
