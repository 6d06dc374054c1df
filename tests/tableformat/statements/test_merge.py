"""A MERGE does what a model of its clauses does, beside other writers and in transactions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ConflictError, InvalidInputError, RepeatedMatchError
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements import merge as merge_module
from colonnade.tableformat.statements.merge import MergeSource, evaluate_merge
from colonnade.tableformat.statements.merge_clauses import MergeClause

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.int32(), "s": pa.string()})
Row = dict[str, Any]


def table_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def contents(table: Any) -> list[Row]:
    return ordered(table.to_arrow().to_pylist())


def ordered(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: str(sorted(row.items(), key=str)))


# --- the model

Condition = Callable[[Row | None, Row | None], bool]
CONDITIONS: list[tuple[str | None, str | None, str | None, Condition]] = [
    (None, None, None, lambda t, s: True),
    ("target.v > 2", None, "target.v > 2", lambda t, s: (t or {})["v"] is not None and t["v"] > 2),  # type: ignore[index]
    ("source.v % 2 = 0", "source.v % 2 = 0", None, lambda t, s: s["v"] % 2 == 0),  # type: ignore[index]
    ("source.v > target.v", None, None, lambda t, s: t["v"] is not None and s["v"] > t["v"]),  # type: ignore[index]
]
"""A condition for each group, and what it means: matched, not matched, not matched by source."""


def expected(rows: list[Row], source: list[Row], clauses: list[tuple[str, str, Condition]]) -> Any:
    """The rows after a merge, or an error where several rows match one."""
    by_key: dict[Any, list[Row]] = {}
    for each in source:
        by_key.setdefault(each["id"], []).append(each)
    after: list[Row] = []
    groups = {group: [c for c in clauses if c[0] == group] for group in ("m", "n", "o")}
    only_deletes = [each[1:] for each in groups["m"]] == [("delete", CONDITIONS[0][3])]
    for row in rows:
        found = by_key.get(row["id"], []) if row["id"] is not None else []
        if len(found) > 1 and groups["m"] and not only_deletes:
            return RepeatedMatchError
        other = found[0] if found else None
        for _, action, condition in groups["m" if found else "o"]:
            if condition(row, other):
                if action == "update" and other is not None:
                    after.append({**row, "v": other["v"], "s": f"{row['s']}+"})
                elif action == "update":
                    after.append({**row, "s": "left"})
                break
        else:
            after.append(row)
    keys = {row["id"] for row in rows if row["id"] is not None}
    for each in source:
        if each["id"] not in keys:
            for _, _, condition in groups["n"]:
                if condition(None, each):
                    after.append(dict(each))
                    break
    return ordered(after)


def merged(table: Any, source: list[Row], clauses: list[tuple[str, str, int]]) -> Any:
    merge = table.merge(table_of(source), "id")
    for group, action, at in clauses:
        matched, new, other, _ = CONDITIONS[at]
        if group == "n":
            merge = merge.when_not_matched_insert_all(new)
        elif group == "m" and action == "update":
            sets = {"v": "source.v", "s": "target.s || '+'"}
            merge = merge.when_matched_update(sets, matched)
        elif group == "m":
            merge = merge.when_matched_delete(matched)
        elif action == "update":
            merge = merge.when_not_matched_by_source_update({"s": "'left'"}, other)
        else:
            merge = merge.when_not_matched_by_source_delete(other)
    return merge.execute()


def random_clauses(rng: random.Random) -> list[tuple[str, str, int]]:
    """Clauses of which only the last one of each group may lack a condition."""
    clauses: list[tuple[str, str, int]] = []
    for _ in range(rng.randint(1, 4)):
        group = rng.choice("mmno")
        if any((each, at) == (group, 0) for each, _, at in clauses):
            continue
        allowed = {"m": (0, 1, 2, 3), "n": (0, 2), "o": (0, 1)}[group]
        action = "insert" if group == "n" else rng.choice(("update", "delete"))
        clauses.append((group, action, rng.choice(allowed)))
    return clauses


def random_rows(rng: random.Random, count: int, *, distinct: bool) -> list[Row]:
    keys: list[int | None] = [*range(12), None]
    ids = rng.sample(keys, count) if distinct else rng.choices(keys, k=count)
    return [{"id": each, "v": rng.randint(0, 6), "s": rng.choice("abc")} for each in ids]


@pytest.mark.parametrize("seed", range(25))
def test_a_merge_does_what_its_clauses_say(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    table = colonnade.create(tmp_path / "t", SCHEMA)
    rows: list[Row] = []
    for _ in range(rng.randint(1, 3)):
        more = random_rows(rng, rng.randint(0, 6), distinct=False)
        table.append(table_of(more))
        rows += more
    for _ in range(3):
        source = random_rows(rng, rng.randint(0, 8), distinct=rng.random() < 0.8)
        clauses = random_clauses(rng)
        wanted = expected(
            rows, source, [(group, action, CONDITIONS[at][3]) for group, action, at in clauses]
        )
        before, epoch = contents(table), table.epoch
        if wanted is RepeatedMatchError:
            with pytest.raises(RepeatedMatchError):
                merged(table, source, clauses)
            assert contents(table) == before
            continue
        counts = merged(table, source, clauses)
        assert contents(table) == wanted, clauses
        assert len(before) - counts.rows_deleted + counts.rows_inserted == len(wanted)
        if table.epoch > epoch:
            told = table.changes(table.epoch, table.epoch).to_arrow()["_change_type"].to_pylist()
            assert told.count("insert") == counts.rows_inserted
            assert told.count("delete") == counts.rows_deleted
            # An update to the same values is none in the feed.
            assert told.count("update_postimage") <= counts.rows_updated
        rows = table.to_arrow().to_pylist()


def small(tmp_path: Path, **options: Any) -> Any:
    table = colonnade.create(tmp_path / "t", SCHEMA, **options)
    table.append(table_of([{"id": each, "v": each, "s": "a"} for each in range(1, 4)]))
    return table


SOURCE = table_of([{"id": 2, "v": 20, "s": "B"}, {"id": 9, "v": 90, "s": "N"}])


def test_a_merge_in_a_transaction_sees_its_rows_and_is_undone_with_it(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(table_of([{"id": each, "v": each, "s": "a"} for each in range(1, 4)]))
    with database.transaction() as tx:
        own = tx.table("t")
        own.append(table_of([{"id": 9, "v": 1, "s": "x"}]))
        own.merge(SOURCE, on="id").when_matched_update_all().execute()
    assert [row["v"] for row in contents(database.table("t"))] == [1, 20, 3, 90]
    transaction = database.transaction()
    transaction.table("t").merge(SOURCE, on="id").when_matched_delete().execute()
    transaction.rollback()
    assert len(contents(database.table("t"))) == 4


@pytest.mark.parametrize("rival", ["inserts a key", "updates a matched row", "deletes it"])
def test_a_merge_beside_another_writer_has_the_result_of_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rival: str
) -> None:
    table, other = small(tmp_path), colonnade.open(tmp_path / "t")
    acts: dict[str, Callable[[], object]] = {
        "inserts a key": lambda: other.append(table_of([{"id": 9, "v": 1, "s": "rival"}])),
        "updates a matched row": lambda: other.update({"v": "v + 100"}, "id = 2"),
        "deletes it": lambda: other.delete("id = 2"),
    }
    done: list[object] = []
    real = evaluate_merge

    def racing(*arguments: Any) -> Any:
        statement = real(*arguments)
        if not done:
            done.append(acts[rival]())
        return statement

    monkeypatch.setattr(merge_module, "evaluate_merge", racing)
    merge = table.merge(SOURCE, on="id").when_matched_update({"v": "target.v + source.v"})
    merge.when_not_matched_insert_all().execute()
    wanted = {"inserts a key": (22, 91), "updates a matched row": (122, 90), "deletes it": (20, 90)}
    found = {row["id"]: row["v"] for row in contents(table)}
    assert (found[2], found[9]) == wanted[rival]
    assert len(found) == len(contents(table)) == 4


def test_a_source_without_the_key_column_is_refused(tmp_path: Path) -> None:
    log: Any = None
    table = small(tmp_path)
    source = MergeSource(SOURCE, {"id": "key"}, ("target", "source"))
    clauses = [MergeClause("matched", "delete")]
    with pytest.raises(InvalidInputError, match="has no column 'key' to match column 'id' by"):
        evaluate_merge(log, table._state, source, clauses, "job")


def test_a_primary_key_stays_unique(tmp_path: Path) -> None:
    table = small(tmp_path, primary_key=["id"])
    with pytest.raises((InvalidInputError, ConflictError)):
        table.merge(SOURCE, on="v").when_not_matched_insert({"id": "1", "v": "source.v"}).execute()
    table.merge(SOURCE, on="id").when_matched_update_all().when_not_matched_insert_all().execute()
    assert [row["id"] for row in contents(table)] == [1, 2, 3, 9]


def test_generated_and_identity_columns_follow_their_rules(tmp_path: Path) -> None:
    columns = pa.schema([*SCHEMA, pa.field("twice", pa.int64()), pa.field("n", pa.int64())])
    table = colonnade.create(
        tmp_path / "t",
        columns,
        generated={"twice": "CAST(v AS BIGINT) * 2"},
        identity={"n": colonnade.IdentityColumn()},
    )
    table.append(table_of([{"id": 2, "v": 1, "s": "a"}]))
    table.merge(SOURCE, on="id").when_matched_update_all().when_not_matched_insert_all().execute()
    assert [(row["id"], row["twice"], row["n"]) for row in contents(table)] == [
        (2, 40, 1),
        (9, 180, 2),
    ]


def test_a_source_may_call_its_key_otherwise_and_have_fewer_columns(tmp_path: Path) -> None:
    table = small(tmp_path)
    source = pa.table({"key": pa.array([2, 7], pa.int32()), "v": pa.array([5, 6], pa.int64())})
    merge = table.merge(source, {"id": "key"}, source_alias="new", target_alias="old")
    counts = (
        merge.when_matched_update({"v": "old.v + new.v"})
        .when_not_matched_insert({"id": "new.key", "v": "new.v * 2", "s": "'fresh'"})
        .execute()
    )
    assert (counts.rows_updated, counts.rows_inserted) == (1, 1)
    assert contents(table)[1:] == [
        {"id": 2, "v": 7, "s": "a"},
        {"id": 3, "v": 3, "s": "a"},
        {"id": 7, "v": 12, "s": "fresh"},
    ]


def test_a_merge_reads_of_rows_that_match_only_what_its_clauses_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small(tmp_path)
    read: list[list[str]] = []
    plain = RowSetReader.read

    def spy(self: Any, columns: Any, *others: Any, **options: Any) -> Any:
        read.append([each.name for each in columns])
        return plain(self, columns, *others, **options)

    monkeypatch.setattr(RowSetReader, "read", spy)
    table.merge(SOURCE, "id").when_matched_update_all("source.v > target.v").execute()
    assert read == [["id"], ["v"]]
    read.clear()
    table.merge(SOURCE, "id").when_matched_update_all().execute()
    assert read == [["id"], []]
    assert contents(table)[1] == {"id": 2, "v": 20, "s": "B"}


def test_a_source_without_rows_changes_nothing(tmp_path: Path) -> None:
    table = small(tmp_path)
    before = table.epoch
    nothing = SOURCE.filter(pa.array([False, False]))
    counts = table.merge(nothing, on="id").when_matched_delete().execute()
    assert (counts.rows_deleted, table.refresh().epoch) == (0, before)


def test_a_merge_that_runs_again_has_the_rows_of_its_stream(tmp_path: Path) -> None:
    table = small(tmp_path)
    merge = table.merge(SOURCE.to_reader(), on="id").when_not_matched_by_source_delete()
    with pytest.raises(InvalidInputError, match="'v' is int, but the data holds string"):
        merge.when_matched_update({"v": "target.s"}).execute()
    merge.execute()
    assert [row["id"] for row in contents(table)] == [2]
    assert merge.when_not_matched_insert_all().execute().rows_inserted == 1


@pytest.mark.parametrize("sides", [{"id": "id"}, {"s": "s"}])
@pytest.mark.parametrize(
    "merged",
    [
        lambda merge: merge.when_matched_update({"v": "source.s"}),
        lambda merge: merge.when_not_matched_insert({"v": "source.s"}),
        lambda merge: merge.when_not_matched_by_source_update({"v": "target.s"}),
    ],
)
def test_a_value_of_another_type_is_refused_whichever_rows_there_are(
    tmp_path: Path, merged: Callable[[Any], Any], sides: dict[str, str]
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    with pytest.raises(InvalidInputError, match="'v' is int, but the data holds string"):
        merged(table.merge(SOURCE, sides)).execute()


TWICE = pa.table([[2], [3], [4]], names=["id", "v", "V"])


@pytest.mark.parametrize(
    ("begun", "message"),
    [
        (lambda t: t.merge(SOURCE, 5), "on must be a list of column names, not 5"),
        (lambda t: t.merge(SOURCE, None), "on must be a list of column names, not None"),
        (lambda t: t.merge(SOURCE, {"id": 3}), "on must be a list of column names"),
        (lambda t: t.merge(SOURCE, []), "one or more columns"),
        (lambda t: t.merge(SOURCE, ["id", "id"]), "each once"),
        (lambda t: t.merge(SOURCE, "id", source_alias="TARGET"), "'target' and 'TARGET'"),
        (lambda t: t.merge(SOURCE, "id", source_alias=None), "'target' and None"),
        (lambda t: t.merge(SOURCE, "id", target_alias=""), "'' and 'source'"),
        (lambda t: t.merge(TWICE, "id"), "column 'v' more than once"),
        (lambda t: t.merge(SOURCE, "id").when_matched_update("v = 1"), "a dict of values"),
        (lambda t: t.merge(SOURCE, "id").when_matched_update(None), "a dict of values"),
        (lambda t: t.merge(SOURCE, "id").when_not_matched_insert(["id"]), "a dict of values"),
        (lambda t: t.merge(SOURCE, "id").when_not_matched_by_source_update(7), "a dict of values"),
    ],
)
def test_a_wrong_argument_is_named(
    tmp_path: Path, begun: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        begun(small(tmp_path)).when_matched_update_all().execute()


def test_an_alias_may_have_any_characters(tmp_path: Path) -> None:
    table = small(tmp_path)
    table.merge(SOURCE, "id", source_alias="a`b", target_alias="t.x").when_matched_update_all(
        "`a``b`.v > `t.x`.v"
    ).execute()
    assert [row["v"] for row in contents(table)] == [1, 20, 3]
