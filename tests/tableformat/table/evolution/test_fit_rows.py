"""Rows bring new columns and wider types into a table, leave them out, or are refused by name."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.alteration import AddColumn, AddConstraint, DropColumn
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.settings import CommitSettings
from tests.growing import Growing

SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("n", pa.int32()),
        ("d", pa.decimal128(5, 2)),
        ("f", pa.float32()),
        pa.field("v", pa.string(), metadata={"colonnade.type": "varchar(3)"}),
        ("p", pa.struct([("x", pa.int32())])),
    ]
)


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    made.append(pa.table({"k": [1], "n": pa.array([10], pa.int32())}))
    return made


def types(table: ArrowTable) -> dict[str, str]:
    table.refresh()
    return {field.name: str(field.type) for field in table._state.schema.fields}


def read(table: ArrowTable, *columns: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.scan(columns or None).to_arrow().sort_by("k").to_pylist()
    return found


def test_new_columns_come_last_and_are_null_in_rows_that_lack_them(table: ArrowTable) -> None:
    nested = pa.array([{"a": [1]}], pa.struct([("a", pa.list_(pa.int8()))]))
    rows = pa.table({"z": ["new"], "K": [2], "y": nested}).replace_schema_metadata({"a": "b"})
    assert table.append(rows, evolve=True) == 4
    assert [*types(table)][-2:] == ["z", "y"]
    assert read(table, "k", "z", "y") == [
        {"k": 1, "z": None, "y": None},
        {"k": 2, "z": "new", "y": {"a": [1]}},
    ]
    did = [(entry.epoch, entry.operation) for entry in table.history()][:2]
    assert did == [(4, "append"), (3, "alter_table")]
    assert table.history()[1].parameters["changes"] == "add column z; add column y"
    # The same columns again change nothing but the rows.
    assert table.append(rows.set_column(1, "k", [[3]]), evolve=True) == 5
    assert table.verify(4).is_sound


@pytest.mark.parametrize(
    ("column", "values", "kind", "becomes"),
    [
        ("n", [2**40], pa.int64(), "long"),
        ("n", [7], pa.uint32(), "long"),
        ("n", [7], pa.uint64(), "long"),
        ("n", [7], pa.int8(), "int"),
        ("n", [0.5], pa.float64(), "double"),
        ("n", [None], pa.null(), "int"),
        ("n", [Decimal("0.25")], pa.decimal128(3, 2), "decimal(12,2)"),
        ("n", [2**40], pa.dictionary(pa.int8(), pa.int64()), "long"),
        ("d", [Decimal("0.5")], pa.decimal128(3, 1), "decimal(5,2)"),
        ("d", [Decimal("123456.5")], pa.decimal128(7, 1), "decimal(8,2)"),
        ("f", [0.1], pa.float64(), "double"),
        ("f", [0.5], pa.float16(), "float"),
        ("v", ["abc"], pa.string(), "varchar(3)"),
    ],
)
def test_a_type_widens_only_as_far_as_the_rows_need(
    table: ArrowTable, column: str, values: list[Any], kind: pa.DataType, becomes: str
) -> None:
    coded = pa.types.is_dictionary(kind)
    plain = pa.array(values, kind.value_type if coded else kind)
    rows = pa.table({"k": [2], column: plain.dictionary_encode() if coded else plain})
    table.append(rows, evolve=True)
    assert types(table)[column] == becomes
    assert [row[column] for row in read(table)][1:] == values
    assert [row["n"] for row in read(table)][:1] == [10]


NESTED = pa.schema(
    [
        ("k", pa.int64()),
        ("s", pa.struct([("a", pa.int32()), ("in", pa.struct([("x", pa.float32())]))])),
        ("l", pa.list_(pa.struct([("a", pa.int32())]))),
        ("m", pa.map_(pa.string(), pa.struct([("a", pa.int16())]))),
    ]
)
WIDER = pa.schema(
    [
        ("k", pa.int64()),
        (
            "S",
            pa.struct(
                [
                    ("A", pa.int64()),
                    ("in", pa.struct([("y", pa.string()), ("x", pa.float64())])),
                    ("k", pa.list_(pa.int8())),
                ]
            ),
        ),
        ("l", pa.large_list(pa.struct([("b", pa.string()), ("a", pa.int64())]))),
        ("m", pa.map_(pa.string(), pa.struct([("a", pa.int32()), ("l", pa.bool_())]))),
    ]
)


def test_new_fields_and_wider_types_come_at_any_depth(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", NESTED)
    old = {"k": 1, "s": {"a": 1, "in": {"x": 0.5}}, "l": [{"a": 1}, None], "m": [("p", {"a": 3})]}
    new = {
        "k": 2,
        "S": {"A": 2**40, "in": {"y": "y", "x": 0.1}, "k": [1]},
        "l": [{"b": "b", "a": 2**41}],
        "m": [("q", {"a": 70_000, "l": True})],
    }
    table.append(pa.Table.from_pylist([old], NESTED))
    rows = pa.Table.from_pylist([new], WIDER)
    epoch = table.append(rows, evolve=True)
    assert sorted(table.history()[1].parameters["changes"].split("; ")) == [
        "add column l.element.b",
        "add column m.value.l",
        "add column s.in.y",
        "add column s.k",
        *("widen column l.element.a to long", "widen column m.value.a to int"),
        *("widen column s.a to long", "widen column s.in.x to double"),
    ]
    before = {
        "k": 1,
        "s": {"a": 1, "in": {"x": 0.5, "y": None}, "k": None},
        "l": [{"a": 1, "b": None}, None],
        "m": [("p", {"a": 3, "l": None})],
    }
    after = {
        "k": 2,
        "s": {"a": 2**40, "in": {"x": 0.1, "y": "y"}, "k": [1]},
        "l": [{"a": 2**41, "b": "b"}],
        "m": [("q", {"a": 70_000, "l": True})],
    }
    assert read(table) == [before, after]
    # The same rows again change nothing but the rows, and the earlier epoch has its own fields.
    assert table.append(rows.set_column(0, "k", [[3]]), evolve=True) == epoch + 1
    assert table.scan(epoch=epoch - 2).to_arrow().to_pylist() == [old]
    assert table.verify(4).is_sound


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"s": [{"a": 1, "in": {"x": 0.5}, "more": 1}]}, "Column 's' has the unknown 'more'"),
        ({"l": [[{"a": 1, "b": {"c": 1}}]]}, "Column 'l.element' has the unknown 'b'"),
    ],
)
def test_an_unknown_field_is_an_error_that_names_it_and_the_option(
    tmp_path: Path, column: dict[str, Any], said: str
) -> None:
    table = colonnade.create(tmp_path / "t", NESTED)
    with pytest.raises(InvalidInputError, match=f"{said}.* append with evolve=True"):
        table.append(pa.table({"k": [1], **column}))
    assert table.epoch == 1


def test_a_longer_varchar_makes_a_column_longer(table: ArrowTable) -> None:
    longer = pa.field("v", pa.string(), metadata={"colonnade.type": "varchar(9)"})
    rows = pa.table([[2], ["123456789"]], schema=pa.schema([("k", pa.int64()), longer]))
    table.append(rows, evolve=True)
    assert types(table)["v"] == "varchar(9)"


def test_a_writer_of_the_narrower_type_continues_after_a_column_has_widened(
    table: ArrowTable,
) -> None:
    narrow = pa.table({"k": [3], "n": pa.array([30], pa.int32())})
    for wide in (pa.array([0.5], pa.float64()), pa.array([None], pa.int32())):
        table.append(pa.table({"k": [2], "n": wide}), evolve=True)
        table.append(narrow)
    assert [row["n"] for row in read(table, "k", "n")] == [10.0, 0.5, None, 30.0, 30.0]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n": ["text"]}, "Column 'n'"),
    ({"f": pa.array([2**40], pa.int64())}, "Column 'f'"),
    ({"v": [1]}, "Column 'v'"),
    ({"p": [1]}, "Column 'p'"),
    ({"p": [{"x": 1, "new": None}]}, "Field 'p.new' is void, and only whole columns can be"),
    ({"p": [{"x": "text", "new": 1}]}, "Column 'p.x'"),
    ({"p": [{"x": 1, "new": 1, "NEW": 2}]}, "'p.new' and 'p.NEW' are the same name"),
    ({"New": [1], "nEW": [2]}, "Columns 'New' and 'nEW' are the same name"),
    ({"n": [1], "N": [2]}, "more than once 'n'"),
    ({"q": pa.array([{"a": 1, "A": 2}])}, "'q.a' and 'q.A' are the same name"),
    ({"_row_handler": [1]}, "is reserved"),
    ({"__row_operation": [1]}, "is reserved"),
    ({"a\0b": [1]}, "NUL"),
    ({"new": pa.array([None], pa.month_day_nano_interval())}, "'new'"),
]


@pytest.mark.parametrize(("columns", "said"), REFUSED)
def test_rows_that_cannot_fit_are_refused_by_name_and_the_table_is_unchanged(
    table: ArrowTable, columns: dict[str, Any], said: str
) -> None:
    before = types(table)
    names, values = [*columns], [pa.array(each) for each in columns.values()]
    names, values = ["k", *names], [pa.array([2]), *values]
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        table.append(pa.Table.from_arrays(values, names=names), evolve=True)
    assert len(read(table)) == 1
    assert types(table) == before


BAD_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "NOT NULL": ({"k": pa.array([2, None], pa.int64())}, "'k'"),
    "a constraint": ({"k": [2, 3], "n": pa.array([1, -(2**40)])}, "'low'"),
    "a length": ({"k": [2, 3], "v": ["abc", "abcd"]}, "'v'"),
}


@pytest.mark.parametrize("kind", BAD_VALUES)
@pytest.mark.parametrize("form", ["table", "batch"])
def test_a_value_that_is_refused_leaves_the_columns_unchanged(
    table: ArrowTable, kind: str, form: str
) -> None:
    columns, said = BAD_VALUES[kind]
    table.alter(AddConstraint("low", "n > -5"))
    rows = pa.table({**columns, "new": [1, 2]})
    data = rows if form == "table" else rows.to_batches()[0]
    epoch, before = table.epoch, types(table)
    with pytest.raises(InvalidInputError, match=said):
        table.append(data, evolve=True)
    assert (table.refresh().epoch, types(table)) == (epoch, before)
    table.append(rows.slice(0, 1), evolve=True)
    assert [row["new"] for row in read(table, "k", "new")] == [None, 1]


def test_a_stream_is_read_once_so_its_columns_stay_when_a_value_is_refused(
    table: ArrowTable,
) -> None:
    rows = pa.table({"k": pa.array([2, None], pa.int64()), "new": [1, 2]})
    with pytest.raises(InvalidInputError, match="'k'"):
        table.append(rows.to_reader(), evolve=True)
    assert read(table, "k", "new") == [{"k": 1, "new": None}]
    assert table.append(rows.slice(0, 1), evolve=True) == 4


def test_an_unknown_column_is_an_error_that_names_it_and_both_options(table: ArrowTable) -> None:
    rows = pa.table({"k": [2], "gone": [1], "too": [2]})
    said = "has the unknown 'gone', 'too'.* evolve=True.* ignore_unknown_columns=True"
    with pytest.raises(InvalidInputError, match=said):
        table.append(rows)
    assert table.refresh().epoch == 2


def test_an_unknown_field_is_an_error_that_names_what_would_take_it(table: ArrowTable) -> None:
    rows = pa.table({"k": [2], "p": [{"x": 1, "gone": 1}]})
    with pytest.raises(InvalidInputError, match="'gone'.* new fields .* evolve=True.$"):
        table.append(rows)
    with pytest.raises(InvalidInputError, match="'gone'"):
        table.append(rows, ignore_unknown_columns=True)
    assert table.refresh().epoch == 2


def test_columns_that_the_table_lacks_can_be_left_out(table: ArrowTable) -> None:
    table.alter(DropColumn(("n",)))
    rows = pa.table({"gone": [1], "K": [2], "n": [5], "d": pa.array([Decimal("1.00")])})
    reader = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches() * 2)
    table.append(reader, ignore_unknown_columns=True)
    assert "n" not in types(table)
    assert [row["k"] for row in read(table)] == [1, 2, 2]
    with pytest.raises(InvalidInputError, match="Column 'n'|The data lacks 'k'"):
        table.append(pa.table({"n": [1]}), ignore_unknown_columns=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"evolve": True, "ignore_unknown_columns": True}, "exclude each other"),
        ({"evolve": "yes"}, "evolve must be True or False, not 'yes'"),
        ({"ignore_unknown_columns": 1}, "ignore_unknown_columns must be True or False, not 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    table: ArrowTable, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said):
        table.append(pa.table({"k": [2]}), **options)


def test_rows_that_merge_bring_columns_and_may_lack_others(tmp_path: Path) -> None:
    columns = pa.schema(
        [("id", pa.int64()), pa.field("name", pa.string(), nullable=False), ("n", pa.int64())]
    )
    table = colonnade.create(
        tmp_path / "t",
        columns,
        primary_key=["id"],
        constraints={"large": "n > 10"},
        properties={"onDuplicate": "merge", "merge.n": "add"},
    )
    table.append({"id": [1], "name": ["ann"], "n": [20]})
    table.append(pa.table({"id": [1], "n": [1]}), evolve=True)
    table.append(pa.table({"id": [1], "n": [2], "more": ["x"]}), evolve=True)
    assert table.to_pylist() == [{"id": 1, "name": "ann", "n": 23, "more": "x"}]
    epoch = table.epoch
    for wrong in ({"id": [1], "n": ["x"]}, {"id": [None], "n": [1]}, {"n": [1]}):
        rows = {**wrong, "last": pa.array([1])}
        with pytest.raises(InvalidInputError):
            table.append(pa.table(rows), evolve=True)
    assert (table.refresh().epoch, "last" in table.columns) == (epoch, False)


def test_an_expected_epoch_holds_for_both_epochs_of_an_evolution(table: ArrowTable) -> None:
    rows = pa.table({"k": [2], "x": [1]})
    with pytest.raises(ConflictError, match="expects epoch 1"):
        table.append(rows, evolve=True, commit=CommitSettings(expect_epoch=1))
    assert "x" not in types(table)
    assert table.append(rows, evolve=True, commit=CommitSettings(expect_epoch=2)) == 4


def test_a_batch_that_has_landed_is_not_written_twice_by_an_evolution(table: ArrowTable) -> None:
    once = CommitSettings(batch=("app", 1))
    for _ in range(2):
        table.append(pa.table({"k": [2], "x": [1]}), evolve=True, commit=once)
    assert len(read(table)) == 2


def first(action: Callable[[], object], patched: pytest.MonkeyPatch, operation: str) -> None:
    """Do something right before the commit of an operation, after that was planned."""
    commit = Log.commit_change

    def late(log: Log, change: Any, base: Any) -> Any:
        if change.operation == operation:
            patched.setattr(Log, "commit_change", commit)
            action()
        return commit(log, change, base)

    patched.setattr(Log, "commit_change", late)


@pytest.mark.parametrize(
    ("operation", "theirs", "fits"),
    [
        ("alter_table", AddColumn(SchemaField(name="X", type="long")), True),
        ("alter_table", AddColumn(SchemaField(name="x", type="int")), True),
        ("alter_table", AddColumn(SchemaField(name="other", type="int")), True),
        ("append", AddColumn(SchemaField(name="other", type="int")), True),
        ("alter_table", AddColumn(SchemaField(name="x", type="string")), False),
    ],
)
def test_a_column_that_a_concurrent_writer_adds_first_is_used_if_it_fits(
    table: ArrowTable,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    theirs: AddColumn,
    fits: bool,
) -> None:
    first(lambda: ArrowTable.open(table.path).alter(theirs), monkeypatch, operation)
    rows = pa.table({"k": [2], "x": [7]})
    if fits:
        table.append(rows, evolve=True)
        assert sum(name.lower() == "x" for name in types(table)) == 1
        assert types(table).get("x", "long") == "long"
        assert [row.get("x", row.get("X")) for row in read(table)] == [None, 7]
    else:
        with pytest.raises(InvalidInputError, match="Column 'x' .*string"):
            table.append(rows, evolve=True)
        assert len(read(table)) == 1


def test_eight_writers_that_bring_the_same_columns_at_once_make_one_of_each(tmp_path: Path) -> None:
    path, writers = tmp_path / "t", 8
    colonnade.create(path, pa.schema({"k": pa.int64()}))
    failed: list[BaseException] = []
    start = threading.Barrier(writers)

    def write(writer: int) -> None:
        table = ArrowTable.open(path)
        start.wait()
        try:
            for number, kind in enumerate((pa.int8(), pa.int16(), pa.int64())):
                values = {"same": pa.array([writer], kind), f"own{writer}": ["a"]}
                table.append(pa.table({"k": [3 * writer + number], **values}), evolve=True)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(each,)) for each in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    table = ArrowTable.open(path)
    assert sorted(types(table)) == sorted(["k", "same", *(f"own{n}" for n in range(writers))])
    assert types(table)["same"] == "long"
    rows = table.scan(["k", "same"]).to_arrow().sort_by("k").to_pylist()
    assert rows == [{"k": n, "same": n // 3} for n in range(3 * writers)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 100))]
)
def test_random_batches_with_missing_new_and_wider_columns_are_read_at_every_epoch(
    tmp_path: Path, seed: int
) -> None:
    world = Growing(tmp_path / "t", seed)
    for _ in range(12):
        world.step()
    table = ArrowTable.open(tmp_path / "t")
    for epoch, expected in world.epochs.items():
        found = table.scan(epoch=epoch).to_arrow().sort_by("k")
        assert found.equals(expected), f"seed {seed}, epoch {epoch}"
    assert table.verify(4).is_sound


def test_a_transaction_does_not_change_columns(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    db.create_table("t", pa.schema({"k": pa.int64()}))
    with pytest.raises(ColonnadeError, match="unknown 'x'"), db.transaction() as tx:
        tx.table("t").append(pa.table({"k": [1], "x": [2]}))
    assert db.table("t")._state.schema.names == ("k",)


def test_rows_with_static_values_bring_columns_and_types(tmp_path: Path) -> None:
    rows = pa.table({"k": pa.array([1], pa.int32()), "n": [1], "s": pa.array([5], pa.int32())})
    table = colonnade.create(tmp_path / "t", rows.schema, primary_key=["k", "n"], static=["s"])
    table.append(rows)
    table.append(pa.table({"k": [2**40], "n": [2], "s": [2**41], "new": ["x"]}), evolve=True)
    assert table.scan(order="key").to_arrow().to_pydict() == {
        "k": [1, 2**40],
        "n": [1, 2],
        "s": [5, 2**41],
        "new": [None, "x"],
    }
    before = table.refresh().epoch
    for bad in ({"k": [None], "n": [3], "s": [1]}, {"k": [3], "n": [3], "s": ["text"]}):
        with pytest.raises(InvalidInputError, match="'(k|s)'"):
            table.append(pa.table({**bad, "more": [1]}), evolve=True)
    assert table.refresh().epoch == before
