"""The limits of a condition hold every value that meets it, and are as narrow as an interval is."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.feed.changes import FEED_COLUMNS, TIMESTAMP, VERSION
from colonnade.tableformat.feed.limits import Limits, limits_of
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate

KNOWN = TableSchema(fields=(SchemaField(id=1, name="k", type="long"), *FEED_COLUMNS))

OF_VERSIONS = st.one_of(
    st.builds(
        "_commit_version {} {}".format,
        st.sampled_from(["<", "<=", "=", ">=", ">", "!=", "<=>"]),
        st.integers(-3, 12),
    ),
    st.lists(st.integers(-3, 12), min_size=1, max_size=3).map(
        lambda values: f"_commit_version IN ({', '.join(map(str, values))})"
    ),
    st.sampled_from(["_commit_version IS NULL", "TRUE"]),
)
OF_OTHERS = st.sampled_from(["k = 3", "k IS NULL", "_change_type = 'delete'"])


def conditions(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves,
        lambda parts: st.one_of(
            st.builds("({} AND {})".format, parts, parts),
            st.builds("({} OR {})".format, parts, parts),
            st.builds("(NOT {})".format, parts),
        ),
    )


VERSIONS = range(-6, 16)


@pytest.mark.slow
@given(conditions(OF_VERSIONS))
def test_the_limits_of_a_condition_on_versions_are_the_first_and_the_last_that_meet_it(
    text: str,
) -> None:
    found = limits_of(parse_predicate(text), KNOWN, VERSION)
    met = [version for version in VERSIONS if meets(text, version)]
    if not met:
        assert found == Limits(0, -1)
        return
    assert found.low == (None if met[0] == VERSIONS[0] else met[0])
    assert found.high == (None if met[-1] == VERSIONS[-1] else met[-1])


@pytest.mark.slow
@given(conditions(st.one_of(OF_VERSIONS, OF_OTHERS)))
def test_no_version_outside_the_limits_has_a_row_that_meets_the_condition(text: str) -> None:
    found = limits_of(parse_predicate(text), KNOWN, VERSION)
    for version in VERSIONS:
        inside = (found.low is None or found.low <= version) and (
            found.high is None or version <= found.high
        )
        assert inside or not meets(text, version), version


def meets(text: str, version: int) -> bool:
    """Whether any row of a version meets a condition."""
    rows = pa.table(
        {
            "k": pa.array([3, 4, None] * 2, pa.int64()),
            "_change_type": ["delete"] * 3 + ["insert"] * 3,
            "_commit_version": [version] * 6,
        }
    ).to_batches()[0]
    return any(evaluate(bind(parse_predicate(text), KNOWN), rows).to_pylist())


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("_commit_timestamp >= timestamp '1970-01-01 00:00:01Z'", Limits(1_000_000, None)),
        ("_commit_timestamp < timestamp '1970-01-01 00:00:01Z'", Limits(None, 999_999)),
        ("_commit_version > 9223372036854775807", Limits(0, -1)),
        ("k = 3 OR _commit_version > 4", Limits(None, None)),
        ("k = 3 AND _commit_version BETWEEN 4 AND 7", Limits(4, 7)),
    ],
)
def test_limits_of_a_condition(text: str, limits: Limits) -> None:
    column = TIMESTAMP if "timestamp" in text else VERSION
    assert limits_of(parse_predicate(text), KNOWN, column) == limits
