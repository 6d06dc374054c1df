"""Random statements that change rows, in SQL that Spark and DuckDB both take to mean the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

COLUMNS = {
    "id": "BIGINT",
    "n": "INT",
    "price": "DECIMAL(9,2)",
    "name": "STRING",
    "day": "DATE",
    "flag": "BOOLEAN",
}
"""Columns by name, with types that both engines know."""


@dataclass
class Statements:
    """Makes statements; the same ones for the same seed."""

    random: random.Random

    def value(self, column: str) -> str:
        """A literal, sometimes NULL; ids repeat, so that statements meet rows."""
        pick = self.random
        if pick.random() < (0.05 if column == "id" else 0.2):
            return f"CAST(NULL AS {COLUMNS[column]})"
        match column:
            case "id":
                return str(pick.randrange(40))
            case "n":
                return str(pick.randrange(-5, 6))
            case "price":
                return f"CAST({pick.randrange(-999, 1000) / 100} AS DECIMAL(9,2))"
            case "name":
                return f"'{pick.choice(['', 'a', 'ab', 'b%', 'é', 'zz'])}'"
            case "day":
                return f"DATE '2026-0{pick.randrange(1, 10)}-1{pick.randrange(10)}'"
        return pick.choice(["true", "false"])

    def rows(self, count: int, *, distinct: bool = False) -> str:
        """A subquery of some rows; their ids are `distinct` where a MERGE needs that."""
        ids = self.random.sample(range(40), count) if distinct else None
        selects = []
        for row in range(count):
            values = {column: self.value(column) for column in COLUMNS}
            if ids is not None:
                values["id"] = str(ids[row])
            typed = [f"CAST({value} AS {COLUMNS[c]}) AS {c}" for c, value in values.items()]
            selects.append(f"SELECT {', '.join(typed)}")
        return " UNION ALL ".join(selects)

    def condition(self, prefix: str = "", depth: int = 2) -> str:
        """A condition on the columns, NULL and all."""
        pick = self.random
        if depth and pick.random() < 0.4:
            word = pick.choice(["AND", "OR"])
            return (
                f"({self.condition(prefix, depth - 1)} {word} {self.condition(prefix, depth - 1)})"
            )
        if depth and pick.random() < 0.1:
            return f"NOT {self.condition(prefix, depth - 1)}"
        column = pick.choice([*COLUMNS])
        name = prefix + column
        if column == "flag":
            return pick.choice([name, f"{name} IS NOT NULL"])
        return pick.choice(
            [
                f"({name} {pick.choice(['=', '<', '>=', '<>'])} {self.value(column)})",
                f"({name} IN ({self.value(column)}, {self.value(column)}))",
                f"({name} IS NULL)",
                f"({name} BETWEEN {self.value(column)} AND {self.value(column)})",
            ]
        )

    def assignments(self, prefix: str = "", source: str = "") -> str:
        """Return assignments to some columns. `n` and `id` may depend on their old values."""
        columns = self.random.sample([c for c in COLUMNS if c != "id"], self.random.randrange(1, 4))
        values = {c: f"{source}{c}" if source else self.value(c) for c in columns}
        if "n" in values and not source:
            values["n"] = f"{prefix}n + 1"
        return ", ".join(f"{column} = {value}" for column, value in values.items())

    def delete(self, table: str) -> str:
        """A DELETE, sometimes by a subquery on the table itself."""
        if self.random.random() < 0.25:
            inner = f"SELECT id + 1 FROM {table} WHERE {self.condition()}"
            return f"DELETE FROM {table} WHERE id IN ({inner})"
        return f"DELETE FROM {table} WHERE {self.condition()}"

    def update(self, table: str) -> str:
        """An UPDATE of some columns."""
        return f"UPDATE {table} SET {self.assignments()} WHERE {self.condition()}"

    def insert(self, table: str) -> str:
        """An INSERT of a few rows."""
        return f"INSERT INTO {table} {self.rows(self.random.randrange(1, 9))}"

    def merge(self, table: str) -> str:
        """A MERGE with one to four clauses."""
        pick = self.random
        names = ", ".join(COLUMNS)
        insert = f"INSERT ({names}) VALUES ({', '.join(f's.{c}' for c in COLUMNS)})"
        clauses = [
            f"WHEN MATCHED AND {self.condition('t.')} THEN DELETE",
            f"WHEN MATCHED AND {self.condition('s.')} THEN UPDATE SET"
            f" {self.assignments('t.', 's.')}",
            f"WHEN NOT MATCHED AND {self.condition('s.')} THEN {insert}",
            f"WHEN NOT MATCHED THEN {insert}",
            f"WHEN NOT MATCHED BY SOURCE AND {self.condition('t.')} THEN DELETE",
            f"WHEN NOT MATCHED BY SOURCE AND {self.condition('t.')} THEN UPDATE SET"
            f" {self.assignments('t.')}",
        ]
        chosen = sorted(pick.sample(range(len(clauses)), pick.randrange(1, 5)))
        source = self.rows(pick.randrange(1, 9), distinct=True)
        return f"MERGE INTO {table} AS t USING ({source}) AS s ON t.id = s.id " + " ".join(
            clauses[each] for each in chosen
        )

    def any(self, table: str) -> str:
        """One of them."""
        kinds = (self.insert, self.delete, self.update, self.merge)
        return self.random.choices(kinds, (2, 3, 3, 4))[0](table)
