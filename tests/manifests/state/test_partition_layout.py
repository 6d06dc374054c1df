"""Which fields may partition a table, and how the log stores them."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list
from colonnade.manifests.model.entries import PartitionField, RowSetEntry
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    Operation,
    Restore,
    SetPartitionLayout,
)
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.manifests.state.partition_layout import (
    field_text,
    parse_layout,
)
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    append,
    change,
    check_refused,
    contents,
    database,
    entry,
    make_log,
    replay,
    table,
)

TYPES = {
    "id": "long",
    "region": "string",
    "ts": "timestamp",
    "day": "date",
    "x": "double",
    "ok": "boolean",
    "price": "decimal(20,2)",
    "at": "time(6)",
    "raw": "binary",
    "ci": "string collate UNICODE_CI",
    "a, (b)": "string",
}
COLUMNS = TableSchema(
    fields=(
        *(SchemaField(id=i, name=n, type=t) for i, (n, t) in enumerate(TYPES.items(), 1)),
        SchemaField(
            id=50,
            name="s",
            type=StructType(fields=(SchemaField(id=51, name="inner", type="int"),)),
        ),
    )
)


def test_layouts_are_read_as_people_write_them() -> None:
    for text, written in {
        "region": "region",
        "REGION": "region",
        "identity(region)": "region",
        " Days( ts ) ": "days(ts)",
        "year(day)": "years(day)",
        "bucket(16, id)": "bucket(16, id)",
        "bucket(id, 16)": "bucket(16, id)",
        "truncate(4,region)": "truncate(4, region)",
        "truncate(10, price)": "truncate(10, price)",
        "a, (b)": "a, (b)",
        "truncate(4, `a, (b)`)": "truncate(4, `a, (b)`)",
        "bucket(7, at)": "bucket(7, at)",
        "ok": "ok",
    }.items():
        (field,) = parse_layout([text], COLUMNS)
        assert field_text(field, COLUMNS) == written
    assert split_list("days(ts), bucket(16, id),region,") == (
        "days(ts)",
        "bucket(16, id)",
        "region",
    )


@pytest.mark.parametrize(
    ("texts", "error", "sentence"),
    [
        (["nothing"], NotFoundError, "Column 'nothing' does not exist"),
        (["days(nothing)"], NotFoundError, "Column 'nothing' does not exist"),
        (["weeks(ts)"], InvalidInputError, "Transform 'weeks' of column 'ts' is unknown"),
        (["bucket(id)"], InvalidInputError, r"written like bucket\(16, id\)"),
        (["days(3, ts)"], InvalidInputError, "days of column 'ts' has no argument"),
        (["bucket(0, id)"], InvalidInputError, "a number from 1 to 2147483647, not 0"),
        (["x"], InvalidInputError, "Column 'x' of type double cannot be partitioned by identity"),
        (["hours(day)"], InvalidInputError, "'day' of type date cannot be partitioned by hours"),
        (["days(id)"], InvalidInputError, "cannot be partitioned by days"),
        (["bucket(4, ok)"], InvalidInputError, "cannot be partitioned by bucket"),
        (["truncate(4, at)"], InvalidInputError, "cannot be partitioned by truncate"),
        (["ci"], InvalidInputError, "cannot be partitioned by identity"),
        (["s"], InvalidInputError, "cannot be partitioned by identity"),
        (["region", "Region"], InvalidInputError, "name region twice"),
    ],
)
def test_an_invalid_layout_is_refused_in_one_sentence(
    texts: list[str], error: type[ColonnadeError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        parse_layout(texts, COLUMNS)


BY_ID = PartitionField(transform="bucket", column=1, argument=4)
BY_X = PartitionField(transform="identity", column=2)


def by(number: int, *fields: PartitionField) -> SetPartitionLayout:
    return SetPartitionLayout(table=ORDERS, layout_id=number, fields=fields)


def partitioned(*values: str | None, layout: int = 1) -> RowSetEntry:
    return entry().model_copy(update={"partition_layout_id": layout, "partition": values})


def begun(log: Log) -> Snapshot:
    create = table().model_copy(update={"partition_fields": (BY_ID,)})
    return log.commit(change(create), database(log.store))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (append(partitioned("i:1", layout=2)).ops, "partition layout 2 does not exist"),
        (append(partitioned("i:1", "i:2")).ops, "does not fit layout 1"),
        (append(partitioned("i:1", layout=0)).ops, "does not fit layout 0"),
        (
            append(entry().model_copy(update={"partition_layout_id": 1})).ops,
            "does not fit layout 1",
        ),
        (append(partitioned("s:a")).ops, "does not fit a column of this type"),
        ((by(3, BY_ID, BY_ID),), "twice"),
        ((by(2, BY_X),), "of type double cannot be partitioned"),
        ((by(2, BY_ID),), "a partition layout 2 of other fields"),
        ((by(0, BY_ID),), "a partition layout 0 of other fields"),
        ((by(1),), "a partition layout 1 of other fields"),
        ((by(2),), "a partition layout 2 of other fields"),
        ((Restore(table=ORDERS, epoch=1, partition_layout_id=2),), "restores partition layout 2"),
        (
            (
                AlterSchema(
                    table=ORDERS,
                    table_schema=TableSchema(fields=SCHEMA.fields[1:]),
                    schema_id=1,
                    next_column_id=3,
                ),
            ),
            "sorted or partitioned by",
        ),
    ],
)
def test_an_operation_that_contradicts_the_layouts_is_not_committed(
    wrong: tuple[Operation, ...], text: str
) -> None:
    log = make_log()
    check_refused(log, begun(log), wrong, text)


def test_layouts_change_and_rowsets_keep_theirs() -> None:
    log = make_log(interval=4)
    base = begun(log)
    head = log.commit(append(partitioned("i:1"), partitioned(None)), base)
    by_bucket = PartitionField(transform="truncate", column=1, argument=10)
    head = log.commit(change(by(2, by_bucket, BY_ID)), head)
    # Planned on the layout before: that is what it was divided by.
    head = log.commit(append(partitioned("i:2")), base)
    head = log.commit(append(partitioned("i:-10", "i:0", layout=2)), head)
    head = log.commit(change(by(0)), head)
    head = log.commit(append(), log.commit(change(by(1, BY_ID)), log.commit(append(), head)))
    rowsets = log.rowsets.read(log.reader.read_head().table("orders"))
    assert [each.entry.partition for each in rowsets] == [
        ("i:1",),
        (None,),
        ("i:2",),
        ("i:-10", "i:0"),
        None,
        None,
    ]
    assert contents(log, log.reader.read_head()) == contents(log, replay(log.store))
    found = log.reader.read_head().table("orders")
    assert found.partition_layouts == ((BY_ID,), (by_bucket, BY_ID))
    assert replay(log.store).table("orders").partition_layout_id == 1


def test_two_layouts_at_once_and_a_layout_beside_a_dropped_column_conflict() -> None:
    log = make_log()
    base = begun(log)
    log.commit(change(by(0)), base)
    with pytest.raises(ConflictError):
        log.commit(change(by(0)), base)
    columns = AlterSchema(table=ORDERS, table_schema=SCHEMA, schema_id=1, next_column_id=3)
    with pytest.raises(ConflictError):
        log.commit(change(columns), base)


def test_a_missing_or_needless_argument_of_a_transform_is_refused() -> None:
    for transform, argument in (("bucket", None), ("days", 3), ("truncate", 0)):
        with pytest.raises(ValueError, match="argument|greater"):
            PartitionField.model_validate(
                {"transform": transform, "column": 1, "argument": argument}
            )
    assert CreateTable.model_validate(table().model_dump()).partition_fields is None
