"""The envelope around every JSON object that Colonnade stores, and the epoch files in it.

    {"crc32c":"0a1b2c3d","body":<body>}<newline>

The body is one JSON object. Its CRC32C precedes it in eight lowercase hex digits, covers exactly
its bytes, and is checked before any of them is parsed. The envelope is valid JSON, so every tool
can show it. Colonnade writes and reads it byte by byte.
Spec: docs/spec/epoch-log.md#envelope
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import orjson
from google_crc32c import value as _crc32c
from pydantic import ValidationError

from colonnade.manifests.errors import CorruptionError, InvalidInputError, UnsupportedFormatError
from colonnade.manifests.model.entries import ByteCheck
from colonnade.manifests.model.epoch import FORMAT_VERSION, Epoch
from colonnade.manifests.model.schema import Model

EPOCH_LIMIT = 8 * 2**20
"""The most bytes of an epoch file. A reader refuses a larger file without loading it."""

_HEAD = b'{"crc32c":"'
_MIDDLE = b'","body":'
_TAIL = b"}\n"
_BODY_START = len(_HEAD) + 8 + len(_MIDDLE)

_NULL = re.compile(rb":\s*null")
"""What the bytes of an object hold if one of its keys, or a text in it, looks like null."""

AnyModel = TypeVar("AnyModel", bound=Model)


def crc32c(data: bytes) -> int:
    """Return the CRC32C (Castagnoli) of `data`."""
    return int(_crc32c(data))


def byte_check(data: bytes) -> ByteCheck:
    """Return the length and the CRC32C of `data`."""
    return ByteCheck(length=len(data), crc32c=crc32c(data))


def verify(data: bytes, check: ByteCheck, name: str) -> None:
    """Compare bytes with their recorded length and checksum.

    Raises CorruptionError, which names `name`.
    """
    if len(data) != check.length:
        raise CorruptionError(f"{name} holds {len(data)} bytes instead of {check.length}.")
    if crc32c(data) != check.crc32c:
        raise CorruptionError(f"{name} is damaged: its bytes do not match their checksum.")


def seal(body: bytes) -> bytes:
    """Put a JSON object into its envelope."""
    return b"%b%08x%b%b%b" % (_HEAD, crc32c(body), _MIDDLE, body, _TAIL)


def unseal(data: bytes, name: str) -> bytes:
    """Take a JSON object out of its envelope, unparsed.

    Raises CorruptionError, which names `name`, for anything but an envelope, and if the checksum
    differs.
    """
    crc = data[len(_HEAD) : _BODY_START - len(_MIDDLE)]
    body = data[_BODY_START : -len(_TAIL)]
    if data[:_BODY_START] != _HEAD + crc + _MIDDLE or not data.endswith(_TAIL):
        raise CorruptionError(f"{name} is damaged or truncated: it is not a Colonnade object.")
    if crc != b"%08x" % crc32c(body):
        raise CorruptionError(f"{name} is damaged: its bytes do not match their checksum.")
    return body


def encode_model(model: Model) -> bytes:
    """Write a model as a sealed JSON object, without the fields that are None.

    Raises ValueError for a value of another type than its field, which no reader would accept.
    """
    return seal(model.model_dump_json(exclude_none=True, warnings="error").encode())


def encoded_length(models: Iterable[Model]) -> int:
    """Return the total bytes of the JSON of these models."""
    return sum(len(each.model_dump_json(exclude_none=True).encode()) for each in models)


def decode_model(model: type[AnyModel], data: bytes, name: str) -> AnyModel:
    """Read a sealed JSON object.

    Raises CorruptionError for damage; UnsupportedFormatError for an operation, key, type or format
    version that this code does not know. Both name `name`.
    """
    return _decode_body(model, unseal(data, name), name)


def decode_value(model: type[AnyModel], value: Any, name: str) -> AnyModel:
    """Read a model from parsed JSON whose checksum was compared. Raises as `decode_model`."""
    return _decode_body(model, orjson.dumps(value), name)


def _decode_body(model: type[AnyModel], body: bytes, name: str) -> AnyModel:
    """Read the body of an object, in which a key may be absent and is never null."""
    try:
        found = model.model_validate_json(body)
    except ValidationError as error:
        raise _translated(error, name) from error
    if _NULL.search(body) and (path := _null_key(orjson.loads(body))):
        raise CorruptionError(f"{name} is malformed at {_path(path)}: the key must not be null.")
    return found


def _null_key(value: Any) -> tuple[int | str, ...] | None:
    """Return the path of a key that is null. The elements of lists may be null."""
    items: Iterable[tuple[int | str, Any]] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        if inner is None and isinstance(value, dict):
            return (key,)
        if below := _null_key(inner):
            return (key, *below)
    return None


def encode_epoch(epoch: Epoch, limit: int = EPOCH_LIMIT) -> bytes:
    """Write an epoch file of at most `limit` bytes.

    Raises InvalidInputError above the limit, which only the caller's operations can exceed, and for
    text that is not valid Unicode.
    """
    try:
        data = encode_model(epoch)
    except ValueError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"This change cannot be written as JSON: {why}.") from error
    if len(data) > limit:
        raise InvalidInputError(
            f"This change takes {len(data)} bytes in the log, and at most {limit} are allowed;"
            " divide it into several changes, each with a condition that meets fewer RowSets."
        )
    return data


def is_epoch(data: bytes, number: int, transaction: str, name: str) -> bool:
    """Return whether an epoch file belongs to a transaction. Cost: parses nothing.

    Writers put the keys that tell this first, in a fixed order. Raises CorruptionError for damage
    anywhere in the file.
    """
    return unseal(data, name).startswith(identity_bytes(number, transaction)[1])


def identity_bytes(number: int, transaction: str) -> tuple[int, bytes]:
    """Return where the bytes of an epoch file are that tell its transaction, and what they are."""
    first = f'{{"format_version":{FORMAT_VERSION},"epoch":{number},"transaction":"{transaction}",'
    return _BODY_START, first.encode()


def decode_slot(data: bytes, number: int, name: str) -> Epoch:
    """Read the epoch in slot `number` of the log.

    Raises as `decode_model`. Raises CorruptionError also if the file belongs to another slot.
    """
    epoch = decode_model(Epoch, data, name)
    if epoch.epoch != number:
        raise CorruptionError(f"{name} holds epoch {epoch.epoch}: files of the log were exchanged.")
    return epoch


def _translated(error: ValidationError, name: str) -> CorruptionError | UnsupportedFormatError:
    problems = error.errors(include_url=False, include_context=True, include_input=True)
    for problem in problems:
        unknown = _unknown(problem)
        if unknown:
            return unknown_word(name, unknown)
    first = problems[0]
    return CorruptionError(f"{name} is malformed at {_path(first['loc'])}: {first['msg']}.")


def unknown_word(name: str, what: str) -> UnsupportedFormatError:
    """Return the refusal of an object that holds a word of a later version."""
    return UnsupportedFormatError(
        f"{name} holds {what}, which this version does not know: upgrade Colonnade."
    )


def _unknown(problem: Any) -> str | None:
    """Name what a newer format would explain in a validation error; None for plain damage."""
    location, kind = problem["loc"], problem["type"]
    if kind == "extra_forbidden":
        return f"the key {_path(location)!r}"
    if kind == "union_tag_invalid":
        tag = problem["ctx"]["tag"]
        return (
            f"the operation {tag!r:.100}" if location[:1] == ("ops",) else f"the type {tag!r:.100}"
        )
    if location[-1:] == ("format_version",) and kind == "literal_error":
        return f"format version {problem['input']!r:.100}"
    if kind == "literal_error" and isinstance(problem["input"], str):
        return f"the {location[-1]} {problem['input']!r:.100}"
    if "table_schema" in location and kind == "value_error" and location[-1] != "metadata":
        return f"the type {problem['input']!r:.100}"
    return None


def _path(location: Iterable[int | str]) -> str:
    return ".".join(str(part) for part in location) or "its top"
