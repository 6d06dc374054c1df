"""SQL text that a table stores, under the present names of the columns that it reads. Pure.

The log keeps the text as it was stated, and where it names columns and fields by which ids. So a
column can be renamed, and nothing that is stored changes.
Spec: docs/spec/types.md#stored-expressions
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.column_names import unquoted
from colonnade.manifests.model.schema import NameReference, TableSchema, walk


def present_text(sql: str, references: Sequence[NameReference], schema: TableSchema) -> str:
    """Return a text with the names that its columns have in a schema.

    The text keeps a name that still is the same, except perhaps for the case of letters A to Z.
    Engines do not agree about the case of other letters, so a name that differs in it is replaced.
    A column that the schema does not have keeps its stated name.
    """
    if not references:
        return sql
    names = {field.id: field.name for field in walk(schema.fields)}
    for each in reversed(references):
        end = each.offset + each.length
        written = unquoted(sql[each.offset : end])
        name = names.get(each.field, written)
        if name.encode().lower() != written.encode().lower():  # of bytes: A to Z alone
            quoted = name.replace("`", "``")
            sql = f"{sql[: each.offset]}`{quoted}`{sql[end:]}"
    return sql
