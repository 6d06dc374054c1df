"""The settings of compaction in the properties of a table.

Guide: docs/compaction.md#properties
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from colonnade.manifests.durations import parse_duration
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import InputModel
from colonnade.manifests.public import public
from colonnade.manifests.sizes import parse_size

PREFIX = "compaction."
"""The prefix of the names of all properties about compaction."""

MIB = 2**20


@public
class CompactionPolicy(InputModel):
    """When RowSets are rewritten, and how large the new RowSets are.

    `target_bytes` is the stored size that a RowSet should have. Smaller RowSets are divided into
    size tiers. Each tier begins at 1/`min_rowsets` of the next larger one, and is merged once it
    has `min_rowsets` RowSets. A RowSet is rewritten once more than `deleted_share` of its rows are
    deleted. RowSets of a sorted table are merged once more than `max_overlap` of them may hold one
    key. One run reads at most `run_bytes` (None: no limit). With `auto`, a writer compacts a small
    group after its commit. Of the rounds of maintenance in each window of `schedule` seconds, one
    compacts the table (0: each round does, None: none does).
    """

    target_bytes: Annotated[int, Field(ge=1)] = 128 * MIB
    min_rowsets: Annotated[int, Field(ge=2)] = 8
    deleted_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    max_overlap: Annotated[int, Field(ge=1)] = 8
    run_bytes: Annotated[int, Field(ge=1)] | None = None
    auto: bool = False
    schedule: Annotated[int, Field(ge=0)] | None = 0


def parse_policy(
    properties: Mapping[str, str], options: Mapping[str, str] | None = None
) -> CompactionPolicy:
    """Return the policy of a table's properties. `options` by the same names take precedence.

    Properties without the prefix are ignored. Options may leave the prefix out. Raises
    InvalidInputError, which names the property, for an unknown property or an invalid value, and
    for the schedule as an option.
    """
    chosen = {name: text for name, text in properties.items() if name.startswith(PREFIX)}
    for name, text in (options or {}).items():
        if name.removeprefix(PREFIX) == "schedule":
            raise InvalidInputError(
                f"{PREFIX}schedule says when rounds of maintenance compact a table, so it cannot be"
                " an option of one run; set it as a property of the table."
            )
        chosen[name if name.startswith(PREFIX) else PREFIX + name] = text
    return CompactionPolicy(**dict(_parse(name, text) for name, text in chosen.items()))


def check_policy(properties: Mapping[str, str]) -> None:
    """Refuse invalid properties about compaction. Raises InvalidInputError."""
    parse_policy(properties)


def _parse(name: str, text: str) -> tuple[str, Any]:
    field = name.removeprefix(PREFIX).replace("-", "_")
    if field not in CompactionPolicy.model_fields or "_" in name:
        known = ", ".join(PREFIX + each.replace("_", "-") for each in CompactionPolicy.model_fields)
        raise InvalidInputError(
            f"There is no property {name!r}; the properties about compaction are {known}."
        )
    try:
        value = _PARSERS[field](str(text).strip())
        CompactionPolicy(**{field: value})
    except (ValueError, InvalidInputError) as error:
        raise InvalidInputError(
            f"Property {name!r} must be {_EXPECTED[field]}, not {text!r}."
        ) from error
    return field, value


def _bytes_or_none(text: str) -> int | None:
    return None if text.casefold() == "none" else parse_size(text)


def _seconds_between(text: str) -> int | None:
    if text.casefold() in ("always", "never"):
        return 0 if text.casefold() == "always" else None
    return parse_duration(text)


def _flag(text: str) -> bool:
    if text.casefold() not in ("true", "false"):
        raise ValueError(text)
    return text.casefold() == "true"


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "target_bytes": parse_size,
    "min_rowsets": int,
    "deleted_share": float,
    "max_overlap": int,
    "run_bytes": _bytes_or_none,
    "auto": _flag,
    "schedule": _seconds_between,
}

_EXPECTED: Mapping[str, str] = {
    "target_bytes": "a size such as 134217728 or 128mb",
    "min_rowsets": "a whole number from 2",
    "deleted_share": "a number from 0 to 1",
    "max_overlap": "a whole number from 1",
    "run_bytes": "a size such as 10gb, or none",
    "auto": "true or false",
    "schedule": "a time such as 5 minutes, 12 hours or 1 day, always, or never",
}
