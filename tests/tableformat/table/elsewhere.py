"""What other processes do with handles that they were given."""

from __future__ import annotations

from typing import Any

import colonnade


def append_and_count(table: colonnade.ArrowTable, number: int) -> int:
    """Append one row, and count the rows as this process sees them."""
    table.append([{"id": number}])
    return table.count()


def rows_of(scan: colonnade.Scan) -> list[dict[str, Any]]:
    return scan.to_pylist()


def tables_of(database: colonnade.ArrowDatabase) -> list[str]:
    database.create_table(f"t{len(database)}", {"id": "long"})
    return database.tables()
