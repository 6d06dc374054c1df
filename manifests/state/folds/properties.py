"""The fold of a table's properties: after every epoch, they name columns that the table has. Pure.

Spec: docs/spec/operations.md#properties-that-name-a-column
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.model.columns.properties import missing
from colonnade.manifests.model.operations import SetProperties
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState


def with_properties(before: Mapping[str, str], operation: SetProperties) -> dict[str, str]:
    """Return the properties of a table after an operation, as the log states them."""
    kept = {name: text for name, text in before.items() if name not in operation.remove}
    return {**kept, **operation.set}


def check_properties(epoch: int, state: TableState) -> None:
    """Check that a table has the columns that its properties name. Raises CorruptionError."""
    for name, column in missing(state.stored_properties, state.schema):
        refuse(
            epoch,
            f"leaves table {state.name!r} with the property {name!r}, which names a column"
            f" {column}, which the table does not have",
        )
