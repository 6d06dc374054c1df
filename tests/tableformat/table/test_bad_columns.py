"""Changes of columns that cannot be: a typed error in one short sentence, and no epoch.

Each case is one bad input of one kind of write without Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import (
    AddColumn,
    AddConstraint,
    AlterProperties,
    ArrayType,
    ArrowDatabase,
    ArrowTable,
    ColonnadeError,
    CommentColumn,
    DropColumn,
    DropConstraint,
    DropNotNull,
    IdentityColumn,
    InvalidInputError,
    MapType,
    MoveColumn,
    NotFoundError,
    RenameColumn,
    SchemaField,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetSortKey,
    StructType,
    TableSchema,
    WidenColumn,
)
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.columns.check import check_schema

LONG, DIGITS = "x" * 5_000, "9" * 5_000
MOST = 800
"""The most characters of a sentence about one long name or text."""


def field(name: Any, type: Any = "int", **more: Any) -> SchemaField:
    return SchemaField(name=name, type=type, **more)


def struct(*fields: SchemaField) -> StructType:
    return StructType(fields=fields)


POINT = struct(field("x"), field("y", "string"))
SCHEMA = TableSchema(
    fields=(
        field("id", "long", nullable=False),
        field("n"),
        field("name", "string"),
        field("day", "date"),
        field("p", POINT),
        field("ps", ArrayType(element=field("element", POINT))),
        field("m", MapType(key=field("key", struct(field("a")), nullable=False), value=field("v"))),
        field("key"),
        field("part"),
        field("checked"),
        field("source"),
        field("made", "long"),
        field("number", "short"),
    )
)
ROWS = pa.table({"id": [1, 2], "n": pa.array([1, None], pa.int32()), "name": ["a", "b"]})


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> ArrowDatabase:
    """With one table `t`, whose columns have a rule of every kind."""
    made = colonnade.create_database(tmp_path_factory.mktemp("bad") / "db")
    table = made.create_table(
        "t",
        SCHEMA,
        sort_key=["key"],
        partition_by=["bucket(2, part)"],
        constraints={"positive": "checked > 0"},
        generated={"made": "source * 2"},
        identity={"number": IdentityColumn()},
    )
    table.append(ROWS)
    return made


def refused(database: ArrowDatabase, call: Callable[[], object], said: str) -> None:
    """Expect one sentence with some words, no longer than it needs to be, and no epoch."""
    before = database.refresh().epoch
    with pytest.raises((InvalidInputError, NotFoundError)) as caught:
        call()
    message = caught.value.message
    assert said in message
    assert "\n" not in message
    assert len(message) < MOST
    assert database.refresh().epoch == before


NO_COLUMN = "does not exist"
NARROWER = "cannot be changed from"
CHANGES: dict[str, tuple[Any, str]] = {
    "a narrower number": (WidenColumn("n", "short"), "'n' cannot be changed from int to short"),
    "a number that loses digits": (WidenColumn("n", "decimal(9,0)"), NARROWER),
    "a number that becomes text": (WidenColumn("n", "string"), "it can become long, double"),
    "a text that becomes shorter": (WidenColumn("name", "varchar(3)"), NARROWER),
    "a date with a time zone": (WidenColumn("day", "timestamp"), "it can become timestamp_ntz"),
    "a struct that becomes a number": (WidenColumn("p", "int"), "'p' cannot be changed from str"),
    "a narrower field": (WidenColumn("p.x", "byte"), "'p.x' cannot be changed from int"),
    "a narrower field of elements": (WidenColumn("ps.element.x", "byte"), "'ps.element.x' cannot"),
    "a narrower key of a map": (WidenColumn("m.key.a", "byte"), "'m.key.a' cannot be changed"),
    "a wider partition": (WidenColumn("part", "double"), "partitioned by bucket of it"),
    "a wider source": (WidenColumn("source", "long"), "the generated column 'made', source * 2"),
    "a wider generated column": (WidenColumn("made", "decimal(20,0)"), "'made' is generated"),
    "an identity that is no integer": (WidenColumn("number", "double"), "it is an identity column"),
    "a drop of the sort key": (DropColumn("key"), "'key' cannot be dropped: the table is sorted"),
    "a drop of a partition": (DropColumn("part"), "'part' cannot be dropped: the table is part"),
    "a drop under a constraint": (DropColumn("checked"), "the constraint 'positive', CHECK (chec"),
    "a drop of a source": (DropColumn("source"), "the generated column 'made', source * 2"),
    "a drop inside a key": (DropColumn("m.key.a"), "'m.key.a' cannot be dropped"),
    "a drop of an element": (DropColumn("ps.element"), "only a struct has fields"),
    "a drop of nothing": (DropColumn("none"), NO_COLUMN),
    "a drop of a field of a number": (DropColumn("p.x.y"), "'p.x' of type int has no fields"),
    "a drop without a name": (DropColumn(""), "is not the path of a column"),
    "a drop of a number": (DropColumn(5), "must be a list of column names, not 5"),  # type: ignore[arg-type]
    "a name of 5,000 letters that is not there": (DropColumn(LONG), NO_COLUMN),
    "a second name": (RenameColumn("n", "NAME"), "'NAME' and 'name' are the same name"),
    "a second name inside": (RenameColumn("p.x", "Y"), "'p.Y' and 'p.y' are the same name"),
    "a second name in elements": (RenameColumn("ps.element.x", "Y"), "'ps.element.y' are the"),
    "no name": (RenameColumn("n", ""), "has no name"),
    "a name that is a number": (RenameColumn("n", 5), "name of column 'n' must be text, not 5"),  # type: ignore[arg-type]
    "a name with half a pair": (RenameColumn("n", "\ud800"), "half of a surrogate pair"),
    "a name with a NUL": (RenameColumn("n", "a\0b"), "holds a NUL"),
    "a comment that is a number": (CommentColumn("n", 5), "comment of column 'n' must be text"),  # type: ignore[arg-type]
    "a column twice": (AddColumn(field("ID")), "'id' and 'ID' are the same name"),
    "a field twice": (AddColumn(field("X"), parent="p"), "'p.x' and 'p.X' are the same name"),
    "a field of elements twice": (
        AddColumn(field("X"), parent="ps.element"),
        "'ps.element.x' and 'ps.element.X' are the same name",
    ),
    "two fields of a new column": (
        AddColumn(field("q", struct(field("a"), field("A")))),
        "'q.a' and 'q.A' are the same name",
    ),
    "NOT NULL without a default": (AddColumn(field("q", nullable=False)), "or with a default"),
    "NOT NULL with the default NULL": (
        AddColumn(field("q", nullable=False), default="NULL"),
        "cannot have the default NULL",
    ),
    "a default of another type": (AddColumn(field("q"), default="'x'"), "'q' is int and cannot"),
    "a default with a fraction": (AddColumn(field("q"), default="1.5"), "'q' is int and cannot"),
    "a default that is too large": (AddColumn(field("q", "byte"), default="300"), "'q' is byte"),
    "a default that is too long": (
        AddColumn(field("q", "varchar(3)"), default="'abcd'"),
        "'q' is varchar(3)",
    ),
    "a default that is a column": (AddColumn(field("q"), default="n"), "is not a literal"),
    "a default by chance": (AddColumn(field("q"), default="rand()"), "is not a literal"),
    "a default that is a query": (AddColumn(field("q"), default="(SELECT 1)"), "is not a literal"),
    "a default that is a list": (AddColumn(field("q"), default=[1]), "cannot be set to [1]"),
    "a default of 5,000 digits": (AddColumn(field("q"), default=DIGITS), "of column 'q' is not a"),
    "a default of 5,000 letters": (AddColumn(field("q"), default=f"'{LONG}'"), "'q' is int and"),
    "a default inside a struct": (AddColumn(field("q"), parent="p", default=5), "'p.q' cannot"),
    "a default of a struct": (SetDefault("p", "1"), "'p' is struct<x:int,y:string> and cannot"),
    "a default of a generated column": (SetDefault("made", "1"), "'made' is generated"),
    "a default of an identity column": (SetDefault("number", "1"), "'number' is an identity"),
    "a new default of 5,000 digits": (SetDefault("n", DIGITS), "of column 'n' is not a"),
    "an added identity column": (
        AddColumn(field("q", identity=IdentityColumn())),
        "cannot be added as an identity column",
    ),
    "a place after nothing": (AddColumn(field("q"), after="none"), NO_COLUMN),
    "two places": (AddColumn(field("q"), after="n", first=True), "both first and after 'n'"),
    "a move to two places": (MoveColumn("n", "name", first=True), "both first and after 'name'"),
    "a move to no place": (MoveColumn("n"), "'n' needs a place to move to"),
    "a place after itself": (MoveColumn("n", after="n"), "'n' cannot come after itself"),
    "a place in another struct": (MoveColumn("p.x", after="n"), "'p.n' does not exist"),
    "NOT NULL with a NULL": (SetNotNull("n"), "'n' of table 't' cannot be made NOT NULL"),
    "NOT NULL of a generated column": (SetNotNull("made"), "'made' is generated"),
    "NULL in an identity column": (DropNotNull("number"), "stays NOT NULL"),
    "NULL in a key": (DropNotNull("m.key"), "The key of map 'm' must not be nullable"),
    "a constraint that a row breaks": (AddConstraint("c", "n > 1"), "for a row with n = 1"),
    "a constraint by chance": (AddConstraint("c", "rand() > 0"), "cannot contain 'RAND()'"),
    "a constraint with a query": (AddConstraint("c", "n > (SELECT 1)"), "cannot contain"),
    "a constraint of another type": (AddConstraint("c", "n > 'x'"), "'n' of type int cannot"),
    "a constraint that is no condition": (AddConstraint("c", "n +"), "Constraint 'c', CHECK (n +)"),
    "a constraint on nothing": (AddConstraint("c", "none > 0"), "'none' does not exist"),
    "a constraint twice": (AddConstraint("POSITIVE", "n > 0"), "'positive' exists already"),
    "a constraint without a name": (AddConstraint("", "n > 0"), "must be text of 1 to 255"),
    "a constraint of a long name": (AddConstraint(LONG, "n > 0"), "must be text of 1 to 255"),
    "a constraint of 5,000 digits": (AddConstraint("c", f"n > {DIGITS}"), "more than 38 digits"),
    "a constraint of 5,000 letters": (AddConstraint("c", f"name = '{LONG}'"), "name = 'a'"),
    "a constraint of 3,000 brackets": (
        AddConstraint("c", "(" * 3_000 + "n > 0" + ")" * 3_000),
        "Constraint 'c'",
    ),
    "a drop of no constraint": (DropConstraint("none"), "'none' does not exist"),
    "a drop of a constraint by number": (DropConstraint(5), "must be text of 1 to 255"),  # type: ignore[arg-type]
    "a sort key of nothing": (SetSortKey(("none",)), NO_COLUMN),
    "a sort key of structs": (SetSortKey(("p",)), "has no order"),
    "a sort key of one column twice": (SetSortKey(("n", "N desc")), "'n'"),
    "a partition of nothing": (SetPartitioning((LONG,)), NO_COLUMN),
    "a partition of 5,000 digits": (SetPartitioning((f"bucket({DIGITS}, n)",)), "does not exist"),
    "a partition of no buckets": (SetPartitioning(("bucket(0, n)",)), "from 1 to 2147483647"),
    "properties to remove as one text": (
        AlterProperties(remove="note"),  # type: ignore[arg-type]
        "must be a list of their names, not 'note'",
    ),
    "properties to remove by number": (AlterProperties(remove=(5,)), "not (5,)"),  # type: ignore[arg-type]
    "days of a number": (SetPartitioning(("days(n)",)), "'n' of type int cannot be partitioned"),
}
"""Alterations, and words that the error of each has."""


@pytest.mark.parametrize("name", CHANGES)
def test_an_impossible_change_is_refused_in_a_sentence(database: ArrowDatabase, name: str) -> None:
    change, said = CHANGES[name]
    table = database.table("t")
    refused(database, lambda: table.alter(change), said)
    refused(database, lambda: table.alter(CommentColumn("id", "other"), change), said)


def made(*fields: SchemaField, **rules: Any) -> Callable[[ArrowDatabase], object]:
    return lambda database: database.create_table("u", TableSchema(fields=fields), **rules)


A, B, C = field("a"), field("b"), field("c")
DEEP = ArrayType(
    element=field(
        "element",
        MapType(
            key=field("key", nullable=False), value=field("v", struct(field("ß"), field("SS")))
        ),
    )
)
CREATIONS: dict[str, tuple[Callable[[ArrowDatabase], object], str]] = {
    "no column": (made(), "at least one column"),
    "a column twice": (made(A, field("A")), "'a' and 'A' are the same name"),
    "a field twice": (made(field("p", struct(A, field("A")))), "'p.a' and 'p.A' are the same"),
    "a deep field twice": (made(field("p", DEEP)), "'p.element.v.ß' and 'p.element.v.SS'"),
    "a column from itself": (made(A, B, generated={"b": "b + 1"}), "because it reads itself"),
    "columns from each other": (
        made(A, B, generated={"b": "a + 1", "a": "b + 1"}),
        "reads the generated column",
    ),
    "a column from a generated one": (
        made(A, B, C, generated={"b": "a + 1", "c": "b + 1"}),
        "'c' cannot be generated, because it reads the generated column 'b'",
    ),
    "a column from an identity": (
        made(A, B, generated={"b": "a"}, identity={"a": IdentityColumn()}),
        "reads the identity column 'a'",
    ),
    "a column from nothing": (made(A, B, generated={"b": "none + 1"}), "'none' does not exist"),
    "a column by chance": (made(A, B, generated={"b": "rand()"}), "without Spark"),
    "a column of today": (made(A, field("b", "date"), generated={"b": "current_date()"}), "'b'"),
    "a column of another type": (made(A, field("b", "date"), generated={"b": "a"}), "type date"),
    "a column of 5,000 digits": (made(A, B, generated={"b": f"a + {DIGITS}"}), "'b' cannot be"),
    "a negative fraction": (made(A, B, generated={"b": "a * -1.5"}), "without Spark"),
    "a NOT NULL column that is generated": (
        made(A, field("b", nullable=False), generated={"b": "a"}),
        "because it is NOT NULL",
    ),
    "rules that are no dict": (made(A, generated=5), "must be a dict of expressions by column"),
    "an identity of text": (
        made(field("a", "string"), identity={"a": IdentityColumn()}),
        "it must be byte, short, int or long",
    ),
    "an identity beyond its type": (
        made(field("a", "byte"), identity={"a": IdentityColumn(start=300)}),
        "starts with 300, which is no byte",
    ),
    "an identity of nothing": (made(A, identity={"none": IdentityColumn()}), NO_COLUMN),
    "an identity without steps": (
        lambda db: made(A, identity={"a": IdentityColumn(step=0)})(db),
        "has step 0",
    ),
    "a sort key of 5,000 letters": (made(A, sort_key=[LONG]), NO_COLUMN),
}


@pytest.mark.parametrize("name", CREATIONS)
def test_an_impossible_table_is_not_made(database: ArrowDatabase, name: str) -> None:
    create, said = CREATIONS[name]
    refused(database, lambda: create(database), said)


Call = Callable[[ArrowTable], object]
CALLS: dict[str, tuple[Call, str]] = {
    "a filled sort key": (lambda t: t.backfill("key", 1), "sorted or partitioned by it"),
    "a filled generated column": (lambda t: t.backfill("made", 1), "generated column 'made'"),
    "a filled source": (lambda t: t.backfill("source", 1), "decides the generated column 'made'"),
    "a filled identity": (lambda t: t.backfill("number", 1), "it is an identity column"),
    "a filled column that is not there": (lambda t: t.backfill(LONG, 1), NO_COLUMN),
    "a fill of another type": (lambda t: t.backfill("n", "'x'"), "'n' is int and cannot be set"),
    "a fill of 5,000 digits": (lambda t: t.backfill("n", DIGITS), "more than 38 digits"),
    "a fill with NULL": (lambda t: t.backfill("id", None), "'id' is NOT NULL"),
    "a fill against a constraint": (lambda t: t.backfill("checked", -5), "'positive'"),
    "a computed column twice": (lambda t: t.add_column("N", "int", 5), "'n' and 'N' are the same"),
    "a computed column of no type": (lambda t: t.add_column("q", LONG, 5), "is not a type"),
    "a computed column by chance": (lambda t: t.add_column("q", "int", "rand()"), "RAND()"),
    "a computed NULL": (lambda t: t.add_column("q", "int", None, nullable=False), "'q' is NOT NU"),
    "a function that returns nothing": (
        lambda t: t.add_column("q", "int", lambda batch: None),
        "The function for column 'q' must return",
    ),
    "a function with too few values": (
        lambda t: t.add_column("q", "int", lambda batch: pa.array([1, 2, 3])),
        "returned 3 values for 2 rows",
    ),
    "a set identity": (lambda t: t.update({"number": 5}), "cannot be set"),
    "a set column that is not there": (lambda t: t.update({LONG: 1}), NO_COLUMN),
    "a set column twice": (lambda t: t.update({"n": 1, "N": 2}), "'n' is set more than once"),
    "another generated value": (lambda t: t.update({"made": 5}), "generated as source * 2"),
    "a value against a constraint": (lambda t: t.update({"checked": -5}), "'positive'"),
    "a given identity": (
        lambda t: t.append(pa.table({"id": [3], "number": pa.array([5], pa.int16())})),
        "row 0 gives it the value 5",
    ),
    "an unknown column of 5,000 letters": (
        lambda t: t.append(pa.table({"id": [3], LONG: [1]})),
        "To add new columns to the table, append with evolve=True",
    ),
    "3,000 unknown columns": (
        lambda t: t.append(pa.table({"id": [3], **{f"x{n}": [1] for n in range(3_000)}})),
        "has the unknown 'x0', 'x1'",
    ),
    "two new columns of one name": (
        lambda t: t.append(pa.table({"id": [3], "q": [1], "Q": [2]}), evolve=True),
        "'q' and 'Q' are the same name",
    ),
    "a new column and a row against a constraint": (
        lambda t: t.append(pa.table({"id": [3], "checked": [-1], "q": [2]}), evolve=True),
        "'positive'",
    ),
    "a new column and a NULL": (
        lambda t: t.append(pa.table({"id": pa.nulls(1, pa.int64()), "q": [2]}), evolve=True),
        "'id' is NOT NULL",
    ),
    "columns of no epoch": (lambda t: t.scan(schema_epoch=10**9), "does not exist"),
    "columns of an epoch that is no number": (
        lambda t: t.scan(schema_epoch="1"),  # type: ignore[arg-type]
        "must be a whole number, not '1'",
    ),
    "an epoch of 5,000 digits": (lambda t: t.restore(epoch=10**5_000), "at most 100 digits"),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_impossible_call_is_refused_in_a_sentence(database: ArrowDatabase, name: str) -> None:
    call, said = CALLS[name]
    table = database.table("t")
    rows = table.scan().to_arrow()
    refused(database, lambda: call(table), said)
    assert table.scan().to_arrow().equals(rows)


def test_an_identity_that_runs_out_of_its_type_is_refused_and_goes_on_when_it_widens(
    tmp_path: Path,
) -> None:
    column = {"id": IdentityColumn(start=126)}
    schema = pa.schema([("id", pa.int8()), ("v", pa.int64())])
    table = colonnade.create(tmp_path / "t", schema, identity=column)
    table.append(pa.table({"v": [1]}))
    before = table.epoch
    with pytest.raises(
        InvalidInputError, match=r"'id' of table .* its type byte has 1 left; widen"
    ):
        table.append(pa.table({"v": [2, 3]}))
    assert table.refresh().epoch == before
    table.alter(WidenColumn("id", "short"))
    table.append(pa.table({"v": [2, 3]}))
    assert table.scan().to_arrow()["id"].to_pylist() == [126, 127, 128]


def test_a_value_of_another_type_never_reaches_the_log() -> None:
    """Whatever a change forgets to check: a reader would call such an epoch damaged."""
    column = field("a").model_copy(update={"comment": 5})
    check_schema(TableSchema(fields=(column,)))
    with pytest.raises(ValueError, match="Expected `str`"):
        encode_model(TableSchema(fields=(column,)))


def test_a_message_has_no_more_than_the_ends_of_a_long_text() -> None:
    path = "/" + "/".join(["folder"] * 60)
    assert ColonnadeError(f"{path} is damaged.").message == f"{path} is damaged."
    long = ColonnadeError(f"Column {LONG!r} does not exist; the columns are a, b.").message
    assert long.startswith("Column 'xxx")
    assert long.endswith("xxx' does not exist; the columns are a, b.")
    assert len(long) < 250
    words = ColonnadeError("Constraint " + "a " * 5_000 + "is not valid.")
    assert len(words.message) <= 2_000
    assert words.args == (words.message,)
    assert words.message.endswith("a is not valid.")
