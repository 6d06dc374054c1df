"""How the tests of the command line call it: in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from typer.testing import CliRunner

import colonnade
from colonnade.cli.app import app


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


Run = Callable[..., Ran]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("day", pa.date32()),
        ("price", pa.decimal128(12, 2)),
        ("at", pa.timestamp("us", "UTC")),
        ("name", pa.string()),
    ]
)


def run_command(*arguments: object, answer: str | None = None) -> Ran:
    """Run `colonnade` with these arguments; `answer` is typed at its questions."""
    result = CliRunner().invoke(app, [str(each) for each in arguments], input=answer)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def order_rows(start: int, count: int) -> pa.Table:
    """Orders with consecutive ids, one a day; the name of every fifth is NULL, of another ''."""
    ids = range(start, start + count)
    return pa.table(
        {
            "id": ids,
            "day": [date(2026, 1, 1 + number % 28) for number in ids],
            "price": [Decimal(number) / 4 for number in ids],
            "at": [datetime(2026, 1, 1, 12, tzinfo=timezone.utc)] * count,
            "name": [(None, "", "[bold]a", 'b, "c"', "ü")[number % 5] for number in ids],
        },
        schema=SCHEMA,
    )


def make_shop(folder: Path) -> Path:
    """A database: `orders` in three RowSets with two rows deleted, and `users`, empty."""
    database = colonnade.create_database(folder / "shop")
    orders = database.create_table("orders", SCHEMA, sort_key=["day desc"], comment="of 2026")
    for start in (0, 10, 20):
        orders.append(order_rows(start, 10))
    orders.delete("id in (3, 4)")
    database.create_table("users", pa.schema([("name", pa.string())]))
    return folder / "shop"
