"""The index of a pandas frame in Arrow: a level with a name is a column, other levels are not data.

Arrow names a level without a name `__index_level_0__`, and says in the metadata of the schema that
it is one. A frame has such an index as soon as it was filtered, sorted, sampled or concatenated.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError


def frame_table(frame: Any) -> pa.Table:
    """Return a pandas frame as an Arrow table, with the levels of its index that have a name."""
    named = any(name is not None for name in frame.index.names)
    return pa.Table.from_pandas(frame, preserve_index=named)


def index_columns(schema: pa.Schema) -> frozenset[str]:
    """Return the names of the columns that are levels of an index without a name.

    Raises InvalidInputError for a level whose name is that of a column, too.
    """
    if b"pandas" not in (schema.metadata or {}):
        return frozenset()
    try:
        said = json.loads(schema.metadata[b"pandas"])
        levels = {each for each in said["index_columns"] if isinstance(each, str)}
        found = [each for each in said["columns"] if each["field_name"] in levels]
        names = {each["field_name"]: each["name"] for each in found}
    except (ValueError, KeyError, TypeError):
        return frozenset()  # Anybody may write this metadata, and it only explains columns.
    for column, name in names.items():
        if name is not None and name != column and name in schema.names:
            raise InvalidInputError(
                f"The pandas index {name!r} has the name of a column; call reset_index(drop=True)"
                " on the frame, or rename the index."
            )
    unnamed = frozenset(column for column, name in names.items() if name is None)
    return unnamed.intersection(schema.names)


def without_index(schema: pa.Schema) -> pa.Schema:
    """Return a schema without the levels of an index that have no name.

    Raises as `index_columns`.
    """
    left_out = index_columns(schema)
    if not left_out:
        return schema
    return pa.schema([field for field in schema if field.name not in left_out])
