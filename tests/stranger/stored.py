"""Objects of a database as bytes: names, checksums, envelopes, and the schema of JSON objects."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]
EPOCH_LIMIT = 8 << 20
OBJECT_LIMIT = 2 << 30


class FormatError(Exception):
    """Corruption: what is stored breaks a rule of the format."""


class Unsupported(FormatError):
    """Something that a later version knows; an upgrade may help."""


def need(condition: object, message: str) -> None:
    """Report corruption unless the condition holds."""
    if not condition:
        raise FormatError(message)


def crc_step(value: int, bits: int) -> int:
    """Shift bits out of the register of a CRC32C."""
    for _ in range(bits):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


CRC_TABLE = [crc_step(byte, 8) for byte in range(256)]


def crc32c(data: bytes) -> int:
    """Return the CRC32C (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def checked(data: bytes | None, check: Json, name: str) -> bytes:
    """Compare bytes with the length and the checksum that refer to them."""
    if data is None or len(data) != check["length"] or crc32c(data) != check["crc32c"]:
        raise FormatError(f"{name}: missing or damaged")
    return data


def get(root: Path, name: str, limit: int = OBJECT_LIMIT) -> bytes | None:
    """Return an object, or None where there is none. No symbolic link below the root is followed.

    Requires: `root` is resolved.
    """
    path = root / name
    try:
        status = path.lstat()
        need(path.resolve() == path and path.is_file() and status.st_size <= limit, f"{name}: odd")
        return path.read_bytes()
    except FileNotFoundError:
        return None


def unseal(data: bytes, name: str, kind: str) -> Json:
    """Check an envelope, and return its body, which has the form of a kind of object."""
    head = re.match(rb'\{"crc32c":"([0-9a-f]{8})","body":', data)
    need(head and data.endswith(b"}\n"), f"{name}: no envelope")
    need(head and crc32c(data[28:-2]) == int(head[1], 16), f"{name}: damaged")
    try:
        body = json.loads(data[28:-2].decode(), object_pairs_hook=strict, parse_constant=constant)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    conform(body, definitions()[kind], name)
    return dict(body)


def strict(pairs: list[tuple[str, Any]]) -> Json:
    """Make a JSON object. A key that is there twice, or is null, is corruption."""
    found = dict(pairs)
    need(len(found) == len(pairs) and None not in found.values(), "a JSON key is null or twice")
    return found


def constant(text: str) -> None:
    """Refuse NaN and infinity, which are not JSON."""
    raise FormatError(f"{text} is not JSON")


# --- the JSON Schema of the specification, which says which keys and forms there are --------------

SCHEMA = Path(__file__).parents[2] / "docs" / "spec" / "schema.json"
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


@cache
def definitions() -> dict[str, Json]:
    """Return the definitions of the schema."""
    return dict(json.loads(SCHEMA.read_text())["$defs"])


def is_a(value: Any, rule: Json) -> bool:
    """Say whether a value has the type of a rule."""
    if rule.get("type") == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, KINDS.get(rule.get("type", "object"), object))


def conform(value: Any, rule: Json, name: str) -> None:
    """Compare a value with a rule of the schema. What the schema does not know needs an upgrade."""
    while "$ref" in rule or "discriminator" in rule:
        ref = rule.get("$ref")
        if ref is None and isinstance(value, dict):
            kind = value.get(rule["discriminator"]["propertyName"])
            ref = rule["discriminator"]["mapping"].get(kind)
        if ref is None:
            raise Unsupported(f"{name}: {value!r:.80} is unknown; please upgrade")
        rule = definitions()[ref.rsplit("/", 1)[1]]
    if "anyOf" in rule:
        fits = [choice for choice in rule["anyOf"] if is_a(value, choice)]
        need(fits, f"{name}: {value!r:.80} has another type")
        return conform(value, fits[0], name)
    if value not in rule.get("enum", [rule.get("const", value)]):
        raise Unsupported(f"{name}: {value!r:.80} is unknown; please upgrade")
    need("type" not in rule or is_a(value, rule), f"{name}: {value!r:.80} is no {rule.get('type')}")
    if isinstance(value, int):
        need(rule.get("minimum", value) <= value <= rule.get("maximum", value), f"{name}: {value}")
    if isinstance(value, str):
        size = len(value)
        fits = rule.get("minLength", 0) <= size <= rule.get("maxLength", size)
        need(fits and re.search(rule.get("pattern", ""), value), f"{name}: {value!r:.80}")
    if isinstance(value, list):
        rules = rule.get("prefixItems", [rule.get("items", {})] * len(value))
        need(len(rules) == len(value), f"{name}: {value!r:.80}")
        for item, inner in zip(value, rules, strict=True):
            conform(item, inner, name)
    if isinstance(value, dict):
        need({*rule.get("required", [])} <= value.keys(), f"{name}: a key is missing")
        others = rule.get("additionalProperties", True)
        for key, item in value.items():
            inner = rule.get("properties", {}).get(key, others)
            if inner is False:
                raise Unsupported(f"{name}: the key {key!r} is unknown; please upgrade")
            conform(key, rule.get("propertyNames", {}), name)
            conform(item, {} if inner is True else inner, name)
    return None
