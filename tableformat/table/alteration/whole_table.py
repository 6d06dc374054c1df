"""Change what is about all rows of a table: properties, the comment, the partitions. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from colonnade.manifests.model.columns.bloom import check_bloom_columns
from colonnade.manifests.model.columns.properties import by_id, names_by_id
from colonnade.manifests.model.operations import SetComment, SetProperties
from colonnade.manifests.public import public
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.table.alteration.draft import Alteration, Draft, without
from colonnade.tableformat.table.design.lifetimes import divided, edited, is_lifetime
from colonnade.tableformat.table.design.properties import (
    check_comment,
    check_property_names,
    checked_properties,
)


@public
@dataclass(frozen=True, slots=True)
class AlterProperties(Alteration):
    """Set and remove properties."""

    set: dict[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"properties {', '.join((*self.set, *self.remove))}"

    def _apply(self, draft: Draft) -> None:
        removed = check_property_names(self.remove)
        text, lives = divided(checked_properties(self.set))
        ended = [name for name in removed if is_lifetime(name)]
        if lives or ended:
            name, schema = draft.table.name, draft.schema
            draft.lifetimes = edited(draft.lifetimes, schema, name, lives, ended)
        check_bloom_columns(text, draft.schema)
        stated = by_id(text, draft.schema)
        unset = names_by_id((name for name in removed if not is_lifetime(name)), draft.schema)
        if stated or unset:
            draft.properties = {**without(draft.properties, unset), **stated}
            operation = SetProperties(table=draft.table.id, set=stated, remove=unset)
            draft.operations.append(operation)


@public
@dataclass(frozen=True, slots=True)
class CommentTable(Alteration):
    """Set the comment of the table; None removes it."""

    comment: str | None

    def __str__(self) -> str:
        return "comment"

    def _apply(self, draft: Draft) -> None:
        check_comment(self.comment)
        draft.operations.append(SetComment(table=draft.table.id, comment=self.comment))


@public
@dataclass(frozen=True, slots=True)
class SetPartitioning(Alteration):
    """Partition future rows by these fields, such as `days(ts)`; no fields end partitioning.

    Existing RowSets keep their partitions until compaction rewrites them.
    """

    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"partition by {', '.join(self.fields) or 'nothing'}"

    def _apply(self, draft: Draft) -> None:
        draft.layout = parse_layout(check_names(self.fields, "The partitioning"), draft.schema)
