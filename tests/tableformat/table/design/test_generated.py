"""A generated column has its value in every row of every epoch, however the row was written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade import (
    AddColumn,
    ArrowDatabase,
    ArrowTable,
    ConflictError,
    DropColumn,
    IdentityColumn,
    InvalidInputError,
    MoveColumn,
    NotFoundError,
    RenameColumn,
    SchemaField,
    SetDefault,
    SetNotNull,
    StructType,
    TableSchema,
    WidenColumn,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import ColumnDefault, Generation
from colonnade.manifests.store import MemoryStore
from tests.tableformat.table.constrained import large

TYPES = {
    "key": pa.int64(),
    "n": pa.int32(),
    "at": pa.timestamp("us", "UTC"),
    "twice": pa.int64(),
    "day": pa.date32(),
    "note": pa.string(),
}
GENERATED = {"twice": "n * 2", "day": "CAST(at AS DATE)"}


def at(day: int) -> datetime:
    return datetime(2026, 1, day, 12, tzinfo=timezone.utc)


def row(key: int, n: int | None = 1, day: int = 1, **more: Any) -> dict[str, Any]:
    return {"key": key, "n": n, "at": at(day), **more}


def table_of(*rows: dict[str, Any]) -> pa.Table:
    names = dict.fromkeys(name for each in rows for name in each)
    return pa.Table.from_pylist(list(rows), pa.schema([(n, TYPES[n]) for n in names]))


def make(path: object, **more: Any) -> ArrowTable:
    return colonnade.create(str(path), pa.schema(list(TYPES.items())), **more)


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = make(tmp_path / "t", generated=GENERATED, partition_by=["day"])
    made.append(table_of(row(1), row(2, None), row(3, 7, 3)))
    return made


def contents(table: ArrowTable, **state: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.scan(**state).to_arrow().to_pylist()
    return sorted(found, key=lambda each: each["key"])


def check(table: ArrowTable) -> None:
    """Check the generated columns of all rows."""
    table.refresh()
    for each in contents(table):
        assert each["twice"] == (None if each["n"] is None else 2 * each["n"])
        assert each["day"] == each["at"].date()


ROADS: dict[str, Callable[[ArrowTable, dict[str, Any]], object]] = {
    "append": lambda t, r: t.append(table_of(r)),
    "overwrite": lambda t, r: t.overwrite(table_of(r)),
    "overwrite where": lambda t, r: t.overwrite(table_of({**r, "key": 1}), "key = 1"),
    "overwrite partitions": lambda t, r: t.overwrite_partitions(table_of(r)),
    "upsert": lambda t, r: t.upsert(
        table_of(*({"note": None, **r, "key": key} for key in (1, 9))), on=["key"]
    ),
    "update": lambda t, r: t.update({k: v for k, v in r.items() if k != "key"}, "key = 1"),
    "append that evolves": lambda t, r: t.append(table_of(r), evolve=True),
}


@pytest.mark.parametrize("road", ROADS)
def test_each_road_fills_the_columns(table: ArrowTable, road: str) -> None:
    ROADS[road](table, row(1, 21, 5))
    check(table)
    assert {"key": 1, "n": 21, "at": at(5), "twice": 42, "day": date(2026, 1, 5), "note": None} in (
        contents(table)
    )


@pytest.mark.parametrize("road", ROADS)
def test_each_road_refuses_another_value(table: ArrowTable, road: str) -> None:
    before, epoch = contents(table), table.epoch
    with pytest.raises(InvalidInputError, match=r"'twice'.* n \* 2.* n = 21, twice = 43"):
        ROADS[road](table, row(1, 21, 5, twice=43))
    table.refresh()
    assert (contents(table), table.epoch) == (before, epoch)
    ROADS[road](table, row(1, 21, 5, twice=42))
    check(table)


def test_a_transaction_fills_and_checks_the_columns(tmp_path: Path) -> None:
    database = colonnade.create_database(f"{tmp_path}/db")
    with database.transaction() as tx:
        made = tx.create("t", pa.schema(list(TYPES.items())), generated=GENERATED)
        made.append(table_of(row(1), row(2)))
        made.update({"n": 5}, "key = 2")
    table = database.table("t")
    check(table)
    assert [each["twice"] for each in contents(table)] == [2, 10]
    with pytest.raises(InvalidInputError, match="'twice'"), database.transaction() as tx:
        tx.table("t").append(table_of(row(3, twice=0)))
    assert database.create_table("u", table._state.schema).generated == GENERATED


UPDATES = st.lists(
    st.tuples(
        st.sampled_from(["n", "at", "note", "twice", "n and twice"]),
        st.integers(-9, 9),
        st.sampled_from([None, "key < 3", "key = 1"]),
    ),
    max_size=6,
)


@pytest.mark.slow
@given(UPDATES)
def test_updates_of_any_columns_compute_the_others(
    updates: list[tuple[str, int, str | None]],
) -> None:
    store = MemoryStore()
    head = create_database(store, lone_table=False)
    database = ArrowDatabase(store, Log(store), head)
    table = database.create_table("t", pa.schema(list(TYPES.items())), generated=GENERATED)
    table.append(table_of(*(row(key, key) for key in range(5))))
    for column, number, where in updates:
        choices: dict[str, dict[str, Any]] = {
            "n": {"n": number},
            "at": {"at": at(10 + number)},
            "note": {"note": "'x'"},
            "twice": {"twice": "DEFAULT"},
            "n and twice": {"n": number, "twice": 2 * number},
        }
        table.update(choices[column], where)
        check(table)


def test_the_source_column_of_a_partition_has_bounds_in_a_wide_table(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(40)]
    fields = [(name, pa.int32()) for name in names]
    table = colonnade.create(
        f"{tmp_path}/t", pa.schema(fields), generated={"c0": "c39 + 1"}, partition_by=["c0"]
    )
    table.append(pa.table({"c39": pa.array([1, 2, 3], pa.int32())}))
    assert len(table.scan(where="c39 = 2")._plan.rowsets) == 1


def test_rows_are_matched_by_a_generated_column(table: ArrowTable) -> None:
    new = table_of(row(30, 7, 4, note="new"), row(31, 8, note="new"))
    counts = table.upsert(new, on=["twice"])
    assert (counts.rows_updated, counts.rows_inserted) == (1, 1)
    check(table)


def test_replaced_columns_are_computed_with_what_they_are_read_from(tmp_path: Path) -> None:
    schema = TableSchema(
        fields=(
            SchemaField(name="key", type="long"),
            *(SchemaField(name=name, type="int") for name in ("a", "b")),
            SchemaField(name="note", type="string"),
            SchemaField(name="sum", type="int"),
        )
    )
    table = colonnade.create(f"{tmp_path}/t", schema, generated={"sum": "a + b"})
    table.append(large(20_000).drop_columns(["at"]))
    counts = table.update({"a": 40}, "key > 3")
    assert counts.rowsets_in_place == 1
    assert {each["sum"] for each in contents(table)} == {3, 42}
    with pytest.raises(InvalidInputError, match="'sum'.* a = 40, b = 5, sum = 9"):
        table.update({"b": 5, "sum": 9}, "key > 3")
    assert table.update({"b": 5, "sum": 45}, "key > 3").rowsets_in_place == 1
    assert {each["sum"] for each in contents(table)} == {3, 45}
    assert table.verify(2).is_sound


def test_a_filter_on_what_a_partition_is_computed_from_prunes_it(table: ArrowTable) -> None:
    """RowSets have bounds of the column that is read, so no other filter is needed."""
    counts = [
        len(table.scan(where=where)._plan.rowsets)
        for where in (None, "at >= TIMESTAMP '2026-01-03 00:00:00Z'", "day = DATE '2026-01-03'")
    ]
    assert counts == [2, 1, 1]


ALTERATIONS: dict[str, tuple[Any, str]] = {
    "drop": (DropColumn("n"), r"'n' cannot be dropped: the generated column 'twice', n \* 2"),
    "widen": (WidenColumn(("n",), "long"), "'n' cannot be changed to another type"),
    "default": (SetDefault(("twice",), 5), "'twice' is generated"),
    "not null": (SetNotNull(("day",)), "'day' is generated"),
    "widen generated": (WidenColumn(("twice",), "decimal(38,0)"), "'twice' is generated"),
    "add": (
        AddColumn(
            SchemaField(
                name="more",
                type="int",
                generated=Generation(sql="n", columns=(2,), time_zone="UTC"),
            )
        ),
        "'more' cannot be added as a generated column",
    ),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_a_column_that_a_generated_column_needs_does_not_change(tmp_path: Path, name: str) -> None:
    table = make(tmp_path / "t", generated=GENERATED)
    change, text = ALTERATIONS[name]
    table.append(table_of(row(1)))
    with pytest.raises(InvalidInputError, match=text):
        table.alter(change)
    assert table.refresh().epoch == 2


def test_a_column_that_a_generated_column_reads_is_renamed_and_the_expression_shows_it(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t", generated=GENERATED)
    table.append(table_of(row(1)))
    stated = dict(table.generated)
    table.alter(RenameColumn("n", "order"), RenameColumn("at", "n"))
    assert table.generated["twice"] == "`order` * 2"
    assert table.generated["day"] == stated["day"].replace("at", "`n`")
    rows = table_of(row(2)).rename_columns(
        [{"n": "order", "at": "n"}.get(name, name) for name in table_of(row(2)).column_names]
    )
    table.append(rows)
    found = table.scan().to_arrow().to_pylist()
    assert [each["twice"] for each in found] == [2 * each["order"] for each in found]
    assert table.verify(4).is_sound
    with pytest.raises(InvalidInputError, match=r"'order' cannot be dropped.*`order` \* 2"):
        table.alter(DropColumn("order"))
    table.alter(RenameColumn("order", "N"), RenameColumn("n", "at"))
    assert table.generated["twice"] == "`N` * 2".replace("`N`", "n")
    assert table.generated["day"] == stated["day"]


def test_a_generated_column_is_renamed_moved_and_dropped(tmp_path: Path) -> None:
    table = make(tmp_path / "t", generated=GENERATED, constraints={"small": "twice < 100"})
    table.alter(RenameColumn("day", "date"), MoveColumn("date", first=True))
    table.alter(RenameColumn("key", "id"))
    table.append(pa.table({"n": pa.array([1, None], pa.int32())}))
    with pytest.raises(InvalidInputError, match="'small'.* twice = 200"):
        table.append(pa.table({"n": pa.array([100], pa.int32())}))
    with pytest.raises(InvalidInputError, match="'twice' cannot be dropped: the constraint"):
        table.alter(DropColumn("twice"))
    table.alter(DropColumn("date"))
    table.alter(DropColumn("at"))
    assert table.generated == {"twice": "n * 2"}
    assert table.scan(["twice"]).to_arrow()["twice"].to_pylist() == [2, None]


def test_no_fill_leaves_a_generated_column_behind(table: ArrowTable) -> None:
    with pytest.raises(InvalidInputError, match="'n' cannot be filled.* decides .*'twice'"):
        table.backfill("n", 3)
    with pytest.raises(InvalidInputError, match="'twice' cannot be filled.* is .*'twice'"):
        table.backfill("twice", 3)
    table.backfill("note", "'x'")
    table.add_column("more", pa.int64(), "twice")
    check(table)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "of itself": ({"twice": "twice + 1"}, "'twice' cannot be generated, because it reads itself"),
    "of another": (
        {"twice": "n * 2", "key": "twice"},
        "reads the generated column 'twice'",
    ),
    "not deterministic": ({"n": "rand()"}, "'n' cannot be generated as rand"),
    "aggregate": ({"n": "max(key)"}, "'n' cannot be generated as max"),
    "subquery": ({"n": "(SELECT 1)"}, "'n' cannot be generated as"),
    "too wide": ({"n": "key"}, "'n' cannot be generated.* does not hold all values of type long"),
    "another type": ({"day": "n"}, "'day' cannot be generated"),
    "no text": ({"n": 5}, "'n' must be text"),
    "empty": ({"n": ""}, "'n' must be text"),
    "unknown": ({"none": "n"}, "'none' does not exist"),
    "unknown source": ({"n": "none"}, "'none' does not exist"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_impossible_expression_is_refused_at_creation(tmp_path: Path, name: str) -> None:
    given, text = WRONG[name]
    with pytest.raises((InvalidInputError, NotFoundError), match=text):
        make(tmp_path / "t", generated=given)
    with pytest.raises(NotFoundError):
        colonnade.open(f"{tmp_path}/t")


def test_a_generated_column_is_nullable_and_has_no_default(tmp_path: Path) -> None:
    n = SchemaField(name="n", type="int")
    g = SchemaField(name="g", type="int", nullable=False)
    with pytest.raises(InvalidInputError, match="'g' cannot be generated, because it is NOT NULL"):
        colonnade.create(f"{tmp_path}/t", TableSchema(fields=(n, g)), generated={"g": "n"})
    g = SchemaField(name="g", type="int", default=ColumnDefault(sql="5", value="i:5"))
    with pytest.raises(InvalidInputError, match="'g' cannot be generated, because it has a def"):
        colonnade.create(f"{tmp_path}/t", TableSchema(fields=(n, g)), generated={"g": "n"})
    with pytest.raises(InvalidInputError, match="must be a dict"):
        make(tmp_path / "x", generated=["g"])


def test_the_table_gives_a_generated_column_no_number(tmp_path: Path) -> None:
    numbers = {"key": IdentityColumn()}
    with pytest.raises(InvalidInputError, match="reads the identity column 'key'"):
        make(tmp_path / "t", identity=numbers, generated={"twice": "key"})
    with pytest.raises(InvalidInputError, match="it is an identity column; leave"):
        make(tmp_path / "t", identity=numbers, generated={"key": "n"})
    table = make(tmp_path / "t", identity=numbers, generated=GENERATED)
    table.append(table_of({"n": 4, "at": at(2)}, {"n": 5, "at": at(3)}))
    table.upsert(table_of({"n": 4, "at": at(5), "note": "x"}), on=["n"])
    check(table)
    assert [each["key"] for each in contents(table)] == [1, 2]


def test_a_column_that_an_expression_reads_keeps_its_fields_in_their_order(tmp_path: Path) -> None:
    made = Generation(sql="to_json(s)", columns=(1,), time_zone="UTC")
    field = SchemaField(name="y", type="int")
    inner = (SchemaField(id=2, name="x", type="int"), SchemaField(id=4, name="z", type="int"))
    fields = (
        SchemaField(id=1, name="s", type=StructType(fields=inner)),
        SchemaField(id=3, name="text", type="string", generated=made),
    )
    table = colonnade.create(f"{tmp_path}/t", TableSchema(fields=fields))
    for change in (AddColumn(field, parent="s"), MoveColumn("s.z", first=True)):
        with pytest.raises(InvalidInputError, match="'s' cannot be changed inside: the generated"):
            table.alter(change)
    table.alter(AddColumn(field), MoveColumn("text", first=True))


def only_spark(path: object) -> ArrowTable:
    """A table as Spark creates it, with an expression that only Spark evaluates."""
    made = Generation(sql="octet_length(note)", columns=(2,), time_zone="UTC")
    fields = (
        SchemaField(id=1, name="key", type="long"),
        SchemaField(id=2, name="note", type="string"),
        SchemaField(id=3, name="size", type="int", generated=made),
    )
    return colonnade.create(str(path), TableSchema(fields=fields))


def test_an_expression_that_only_spark_computes_refuses_rows_and_nothing_else(
    tmp_path: Path,
) -> None:
    table = only_spark(tmp_path / "t")
    rows = pa.table({"key": [1], "note": ["abc"], "size": pa.array([3], pa.int32())})
    statements: list[Callable[[], object]] = [
        lambda: table.append(rows),
        lambda: table.overwrite(rows),
        lambda: table.update({"key": 2}),
        lambda: table.upsert(rows, on=["key"]),
    ]
    for statement in statements:
        with pytest.raises(InvalidInputError, match="only Spark can compute its column 'size'"):
            statement()
    assert table.refresh().epoch == 1
    table.delete("key = 1")
    table.alter(RenameColumn("size", "length"))
    assert table.generated == {"length": "octet_length(note)"}


def test_a_restore_and_compaction_keep_the_columns_and_their_values(table: ArrowTable) -> None:
    before, epoch = contents(table), table.epoch
    table.append(table_of(row(4, 8, 3)))
    table.optimize().option("min-rowsets", 2).executeCompaction()
    check(table)
    assert contents(table, epoch=epoch) == before
    assert contents(table, schema_epoch=1)[0]["twice"] == 2
    table.alter(DropColumn("twice"))
    table.append(table_of(row(5)))
    table.restore(epoch=epoch)
    assert contents(table) == before
    table.append(table_of(row(6, 4)))
    check(table)
    assert table.generated == GENERATED
    assert table.verify(4).is_sound


def test_rows_that_were_written_without_the_column_do_not_land_beside_it(tmp_path: Path) -> None:
    """A restore may bring the column back while rows are being written."""
    table = make(tmp_path / "t", generated=GENERATED)
    table.append(table_of(row(1)))
    epoch = table.epoch
    table.alter(DropColumn("twice"))
    other = colonnade.open(table.path)

    def rows() -> Any:
        yield table_of(row(2)).to_batches()[0]
        other.restore(epoch=epoch)

    reader = pa.RecordBatchReader.from_batches(table_of(row(2)).schema, rows())
    with pytest.raises(ConflictError):
        table.append(reader)
    check(other)


def test_a_table_without_generated_columns_says_so(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    assert table.generated == {}
