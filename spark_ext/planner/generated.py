"""Generated columns in requests. Spark fills and checks them in the rows that the JVM writes."""

from __future__ import annotations

from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.generated import generated_fields, sources_of
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.write.job import WriteJob


def described(schema: TableSchema) -> list[dict[str, Any]]:
    """Return the generated columns, the columns that each reads, and its time zone."""
    return [
        {
            "column": field.name,
            "sql": field.generated.sql,
            "reads": [source.name for source in sources_of(field, schema)],
            "time_zone": field.generated.time_zone,
        }
        for field in generated_fields(schema)
        if field.generated is not None
    ]


def require_filled(job: WriteJob, *, filled: bool) -> None:
    """Refuse rows of a session that does not fill the generated columns of the target.

    Raises InvalidInputError that names table and column.
    """
    generated = generated_fields(job.target.table_schema)
    if generated and job.create is None and not filled:
        raise InvalidInputError(
            f"Table {job.target.name!r} has the generated column {generated[0].name!r}, which this"
            " session of Spark does not compute; write it with colonnade.open."
        )
