"""What happens to a change after another one: the table of the specification, as a value.

A new rule about rows begins here. The page is made from this table, and the tests of `rebase`
commit a statement of each kind after one of each kind.

Spec: docs/spec/conflicts.md#the-table
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Literal, TypeAlias

from colonnade.manifests.model.operations import RowKind


class Kind(Enum):
    """What a change does to rows. The value is its name in the specification."""

    APPEND = "append"
    DELETE = "delete"
    MOVE = "update, merge"
    REPLACE = "replace column"
    OVERWRITE = "overwrite rows"
    COMPACTION = "compaction"
    DELETE_RANGES = "delete ranges"


class Rule(Enum):
    """When the later change is refused. The value says it, and what else happens, on the page."""

    COMMIT = "commit"
    STAYS = "commit: its rows stay"
    UNITED = "commit: union"
    BY_KEY = "commit, [keys](#keys)"
    DELETES = "commit: deletes its rows"
    DELETES_NEW = "commit: deletes its new rows, too"
    DATED = "commit: [dated](#range-tombstones)"
    CARRIED = "commit: carried"
    CARRIED_DELETES = "commit: carried; RowSet dropped: refuse"
    SAME_ROW = "overlap: refuse"
    SAME_ROW_READ = "overlap, of a column that it read: refuse"
    SAME_COLUMN = "[below](#replaced-columns)"
    SAME_ROWSET = "same RowSet: refuse"
    SOME_INPUTS = "inputs all overwritten: commit, else refuse"
    SAME_INPUT = "disjoint inputs: commit, else refuse"
    READ = "[reads](#reads)"
    REGION = "may change a row of a region: [refuse](#range-tombstones)"
    REGION_READ = "may overwrite a row of a region: [refuse](#range-tombstones)"


Mine: TypeAlias = Kind
Theirs: TypeAlias = Kind

CONFLICTS: Mapping[tuple[Mine, Theirs], Rule] = MappingProxyType(
    {
        (Kind.APPEND, Kind.APPEND): Rule.COMMIT,
        (Kind.APPEND, Kind.DELETE): Rule.COMMIT,
        (Kind.APPEND, Kind.MOVE): Rule.COMMIT,
        (Kind.APPEND, Kind.REPLACE): Rule.COMMIT,
        (Kind.APPEND, Kind.OVERWRITE): Rule.COMMIT,
        (Kind.APPEND, Kind.COMPACTION): Rule.COMMIT,
        (Kind.APPEND, Kind.DELETE_RANGES): Rule.STAYS,
        (Kind.DELETE, Kind.APPEND): Rule.COMMIT,
        (Kind.DELETE, Kind.DELETE): Rule.UNITED,
        (Kind.DELETE, Kind.MOVE): Rule.SAME_ROW,
        (Kind.DELETE, Kind.REPLACE): Rule.SAME_ROW_READ,
        (Kind.DELETE, Kind.OVERWRITE): Rule.SAME_ROWSET,
        (Kind.DELETE, Kind.COMPACTION): Rule.CARRIED,
        (Kind.DELETE, Kind.DELETE_RANGES): Rule.COMMIT,
        (Kind.MOVE, Kind.APPEND): Rule.BY_KEY,
        (Kind.MOVE, Kind.DELETE): Rule.SAME_ROW,
        (Kind.MOVE, Kind.MOVE): Rule.SAME_ROW,
        (Kind.MOVE, Kind.REPLACE): Rule.SAME_ROW,
        (Kind.MOVE, Kind.OVERWRITE): Rule.SAME_ROWSET,
        (Kind.MOVE, Kind.COMPACTION): Rule.CARRIED,
        (Kind.MOVE, Kind.DELETE_RANGES): Rule.REGION,
        (Kind.REPLACE, Kind.APPEND): Rule.COMMIT,
        (Kind.REPLACE, Kind.DELETE): Rule.COMMIT,
        (Kind.REPLACE, Kind.MOVE): Rule.SAME_ROW,
        (Kind.REPLACE, Kind.REPLACE): Rule.SAME_COLUMN,
        (Kind.REPLACE, Kind.OVERWRITE): Rule.SAME_ROWSET,
        (Kind.REPLACE, Kind.COMPACTION): Rule.SAME_ROWSET,
        (Kind.REPLACE, Kind.DELETE_RANGES): Rule.REGION,
        (Kind.OVERWRITE, Kind.APPEND): Rule.READ,
        (Kind.OVERWRITE, Kind.DELETE): Rule.SAME_ROWSET,
        (Kind.OVERWRITE, Kind.MOVE): Rule.SAME_ROWSET,
        (Kind.OVERWRITE, Kind.REPLACE): Rule.SAME_ROWSET,
        (Kind.OVERWRITE, Kind.OVERWRITE): Rule.SAME_ROWSET,
        (Kind.OVERWRITE, Kind.COMPACTION): Rule.SOME_INPUTS,
        (Kind.OVERWRITE, Kind.DELETE_RANGES): Rule.REGION_READ,
        (Kind.COMPACTION, Kind.APPEND): Rule.COMMIT,
        (Kind.COMPACTION, Kind.DELETE): Rule.CARRIED_DELETES,
        (Kind.COMPACTION, Kind.MOVE): Rule.CARRIED_DELETES,
        (Kind.COMPACTION, Kind.REPLACE): Rule.SAME_ROWSET,
        (Kind.COMPACTION, Kind.OVERWRITE): Rule.SAME_ROWSET,
        (Kind.COMPACTION, Kind.COMPACTION): Rule.SAME_INPUT,
        (Kind.COMPACTION, Kind.DELETE_RANGES): Rule.DATED,
        (Kind.DELETE_RANGES, Kind.APPEND): Rule.DELETES,
        (Kind.DELETE_RANGES, Kind.DELETE): Rule.COMMIT,
        (Kind.DELETE_RANGES, Kind.MOVE): Rule.DELETES_NEW,
        (Kind.DELETE_RANGES, Kind.REPLACE): Rule.COMMIT,
        (Kind.DELETE_RANGES, Kind.OVERWRITE): Rule.COMMIT,
        (Kind.DELETE_RANGES, Kind.COMPACTION): Rule.COMMIT,
        (Kind.DELETE_RANGES, Kind.DELETE_RANGES): Rule.COMMIT,
    }
)
"""What happens to my change at its slot after theirs was committed since its base."""

_KINDS: Mapping[RowKind | Literal["replace"], Kind] = {
    "delete": Kind.DELETE,
    "update": Kind.MOVE,
    "merge": Kind.MOVE,
    "replace": Kind.REPLACE,
}


def rule(mine: RowKind | Literal["replace"], theirs: RowKind | Kind) -> Rule:
    """Return the rule for changed rows of a RowSet after a concurrent change of that RowSet."""
    return CONFLICTS[_KINDS[mine], theirs if isinstance(theirs, Kind) else _KINDS[theirs]]
