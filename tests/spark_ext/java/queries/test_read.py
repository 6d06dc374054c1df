"""Reading tables with Spark: what is pushed down, and that it changes no result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROAD = Path(__file__).with_name("read_road.py")
ROOT = ROAD.parents[4]

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat, pytest.mark.matrix]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return walk(tmp_path_factory.mktemp("road"))


def walk(folder: Path, *arguments: str) -> dict[str, Any]:
    """What `read_road.py` saw, in a process that is over."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, str(ROAD), str(folder), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=580,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stdout[-8000:]
    found: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return found


def test_spark_reads_the_rows_that_arrow_reads(seen: dict[str, Any]) -> None:
    assert seen["rows"]["found"] == seen["rows"]["expected"]
    assert len(seen["rows"]["found"]) == 510


def test_many_columns_are_read_as_rows_which_are_the_rows_that_columns_give(
    seen: dict[str, Any],
) -> None:
    found = seen["wide"]
    assert found["from"] == [False, True], "columns only where Spark generates code that reads them"
    assert found["rows"] == found["columns"]
    every, some = found["rows"]
    assert [row for _, _, row in every] == found["expected"]
    assert (len(every), len(some) > 40) == (220, True)
    assert [handler for _, handler, _ in every][:3] == [0, 1, 2]


def test_a_filter_selects_the_same_rows_whether_it_prunes_or_not(seen: dict[str, Any]) -> None:
    check_conditions(seen["conditions"])


@pytest.mark.long
@pytest.mark.timeout(600)
def test_many_filters_orders_and_aggregates_find_the_same_rows_on_every_way(
    tmp_path: Path,
) -> None:
    seen = walk(tmp_path, "32")
    assert (len(seen["conditions"]), len(seen["orders"])) == (512, 96)
    check_conditions(seen["conditions"])
    test_the_first_rows_of_any_order_are_found(seen)
    test_aggregates_are_equal_whether_the_log_answers_or_rows_do(seen)


def check_conditions(conditions: list[dict[str, Any]]) -> None:
    wrong = [each for each in conditions if each["pushed"] != each["plain"]]
    assert not wrong
    selective = [each for each in conditions if 0 < len(each["plain"]) < 510]
    assert 2 * len(selective) > len(conditions)


def test_a_condition_may_hold_a_null_of_bytes(seen: dict[str, Any]) -> None:
    assert seen["null_bytes"] == {"found": ["a"], "left": 2}


def test_aggregates_are_equal_whether_the_log_answers_or_rows_do(seen: dict[str, Any]) -> None:
    for each in seen["aggregates"]:
        assert each["found"] == each["expected"], each["asked"]


@pytest.mark.parametrize(
    ("asked", "early", "answered"),
    [
        (["count(1)"], False, True),
        (["count(*)", "max(id) + min(id)"], False, False),  # the greatest ids may be deleted
        (["min(id)"], False, True),
        (["max(id)"], False, False),
        (["max(id)"], True, True),
        (["max(x)"], True, True),
        (["min(n)"], True, True),
        (["max(s)"], True, False),  # too long for a bound that is exact
        (["max(y)"], True, True),
        (["count(id)"], False, True),
        (["count(i)"], False, False),  # which of the deleted rows held NULL?
        (["count(distinct b)"], False, False),
        (["count(*) filter (where id > 3)"], False, False),
        (["max(st.a)"], True, False),
        (["max(_row)"], True, False),
        (["max(id + 1)"], True, False),
        (["sum(id)"], False, False),
    ],
)
def test_the_log_answers_where_it_is_certain(
    seen: dict[str, Any], asked: list[str], early: bool, answered: bool
) -> None:
    (found,) = (e for e in seen["aggregates"] if e["asked"] == asked and e["early"] == early)
    assert found["answered"] == answered


def test_groups_without_a_function_are_counted_by_rows(seen: dict[str, Any]) -> None:
    found = seen["groups"]
    assert found["few"] == found["expected"]
    assert (found["all"], found["one"]) == (510, 1)


def test_the_first_rows_of_any_order_are_found(seen: dict[str, Any]) -> None:
    for each in seen["orders"]:
        assert each["found"] == each["expected"], each["order"]


def test_a_limit_is_filled_from_rows_that_are_not_deleted(seen: dict[str, Any]) -> None:
    found = seen["limits"]
    assert found["counts"] == [[n, min(n, found["live"])] for n, _ in found["counts"]]
    assert "limit 5" in found["plan"]
    assert found["filtered"] == 40
    assert found["offset"] == [3, 4]


def test_columns_have_their_names_types_and_comments(seen: dict[str, Any]) -> None:
    fields = {field["name"]: field for field in json.loads(seen["columns"]["schema"])["fields"]}
    assert fields["id"]["nullable"] is False
    assert fields["s"]["metadata"] == {"comment": "a name"}
    assert fields["n"]["type"] == "decimal(10,2)"
    assert fields["st"]["type"]["fields"][1]["name"] == "b c"


def test_only_the_fields_of_a_struct_that_are_used_are_read(seen: dict[str, Any]) -> None:
    found = seen["columns"]
    assert "columns struct<st:struct<a:bigint>>" in found["nested"]
    assert len(found["nested_rows"]) == 9
    assert None in found["nested_rows"]


def test_every_row_has_a_place_a_handler_and_an_epoch(seen: dict[str, Any]) -> None:
    found = seen["columns"]
    for number, rowset, row, handler, epoch in found["beside"]:
        assert (rowset, row) == divmod(number, 60)
        assert handler == (rowset << 32 | row)
        assert epoch == rowset + 2
    assert len(found["beside"]) == 510
    assert found["by_handler"] == [70]
    assert found["nullable"] is False


def test_rows_are_counted_when_no_column_is_read(seen: dict[str, Any]) -> None:
    assert seen["columns"]["none"] == 510
    # Row 4 is there in all RowSets but the one that has no rows any more.
    assert seen["columns"]["alone"] == 9


def test_explain_shows_what_is_pushed_down(seen: dict[str, Any]) -> None:
    found = seen["plans"]["filter"]
    scan = next(line for line in found.splitlines() if "BatchScan" in line)
    for part in ("epoch ", "columns struct<id:bigint,i:int,s:string>", "i > 5", "i IS NOT NULL"):
        assert part in scan
    assert "upper" not in scan
    assert "Filter" in found, "Spark filters the rows again"


def test_small_reads_are_broadcast_and_large_ones_are_not(seen: dict[str, Any]) -> None:
    assert "BroadcastHashJoin" in seen["plans"]["small"]
    assert "SortMergeJoin" in seen["plans"]["large"]


def test_an_order_is_reported_only_where_every_task_reads_one_rowset(seen: dict[str, Any]) -> None:
    assert "Sort [" in seen["plans"]["unordered"]
    assert "Sort [" not in seen["plans"]["ordered"]


def test_a_query_that_the_log_answers_takes_no_job(seen: dict[str, Any]) -> None:
    (line,) = [each for each in seen["plans"]["answered"].splitlines() if each.strip()]
    assert line.strip().startswith("LocalTableScan [")


def test_the_rows_of_one_task_are_not_shuffled(seen: dict[str, Any]) -> None:
    assert seen["plans"]["shuffles"] == [0, 1]


def test_shares_of_several_tasks_add_up(seen: dict[str, Any]) -> None:
    found, expected = seen["plans"]["sums"]
    assert found == expected


def test_the_distinct_values_of_a_column_are_read(seen: dict[str, Any]) -> None:
    assert seen["plans"]["distinct"] == ["False", "None", "True"]


def test_equal_scans_of_a_query_are_read_once(seen: dict[str, Any]) -> None:
    assert "ReusedExchange" in seen["plans"]["twice"]


def test_a_join_reads_only_rowsets_that_the_other_side_may_match(seen: dict[str, Any]) -> None:
    found = seen["runtime_filters"]
    assert found["ids"] == [[80], [420]]
    assert found["all"] == 510
    assert found["read"][0] == 40, "one RowSet of ten, of which every third row is deleted"


def test_no_values_are_looked_for_in_what_one_task_reads_of_one_rowset(
    seen: dict[str, Any],
) -> None:
    several, one = seen["runtime_filters"]["plans"]
    assert "dynamicpruning" in several
    assert "dynamicpruning" not in one


def test_thousands_of_values_are_looked_for_as_ranges(seen: dict[str, Any]) -> None:
    # 420 is in RowSet 7. The next value is beyond the last RowSet, which has 50 rows left.
    assert seen["runtime_filters"]["read"][1] == 60 + 60 + 50


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("counts", [1, 510, 4, 510]),
        ("union", [1, 2]),
        ("join", 1),
        ("cte", [1, 510, 3]),
        ("view", [1, 510]),
        ("exists", 2),
        ("self", 7),
    ],
)
def test_a_filter_of_one_use_of_a_table_never_reaches_another(
    seen: dict[str, Any], query: str, result: Any
) -> None:
    assert seen["leaks"][query] == result


def test_a_dataframe_reads_the_newest_epoch_when_it_is_planned(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["counts"] == [1, 2, 2]
    assert seen["epochs"]["view"] == [2, 3]
    assert seen["epochs"]["made"] == 3


def test_a_planned_query_keeps_its_epoch(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["planned"] == [1, 1]


def test_an_epoch_that_was_asked_for_stays(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["pinned"] == [1, 1]
    assert seen["epochs"]["versions"] == [2, 1, 2, 2]
    assert seen["epochs"]["mixed"] == 1 + 3


def test_one_query_reads_one_epoch_of_a_table_whenever_it_was_loaded(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["union"] == [6, 9]


def test_a_write_of_the_session_refreshes_its_cache(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["cached"] == [0, 1, 1, 1]


def test_times_without_a_zone_have_the_zone_of_the_session(seen: dict[str, Any]) -> None:
    assert seen["epochs"]["times"] == [2, 2]


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("option", "[COLONNADE_INVALID_INPUT] Option 'epich' is unknown; did you mean epoch?"),
        ("both", "[COLONNADE_INVALID_INPUT] Options versionAsOf and epoch mean the same"),
        ("epoch", "[COLONNADE_NOT_FOUND] Epoch 99 of"),
        ("no epoch", "[COLONNADE_INVALID_INPUT] Option epoch must be a whole number from 0"),
        ("early", "[COLONNADE_NOT_FOUND]"),
        ("no time", "[COLONNADE_INVALID_INPUT] 'soon' is not a time"),
        ("no table", "[COLONNADE_NOT_FOUND]"),
        ("no path", "[COLONNADE_INVALID_INPUT] No path was given"),
        ("paths", "[COLONNADE_INVALID_INPUT] Colonnade reads one table at a time"),
        ("where", "[COLONNADE_INVALID_INPUT] Option where is for reading without the jar"),
    ],
)
def test_an_unreadable_table_is_refused_in_one_sentence(
    seen: dict[str, Any], case: str, sentence: str
) -> None:
    assert seen["refusals"][case].startswith(sentence)
    assert "Traceback" not in seen["refusals"][case]
