"""A few appends; `python -m tests.bad_network` makes as many as you like."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.bad_network.run import Told, run
from tests.manifests.store.fsspec_files.given import LIBRARIES
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


@pytest.mark.slow
@pytest.mark.parametrize(
    ("appends", "writers"), [(4, 3), pytest.param(40, 8, marks=pytest.mark.long)]
)
def test_no_append_is_lost_doubled_or_misreported_by_a_bad_network(
    minio: Minio, appends: int, writers: int
) -> None:
    told = run(minio, appends, writers, seed=7)
    assert told.problems == [], str(told)
    # Refused writes are final, so chance decides how many appends of a few are committed.
    assert len(told.done) >= appends * writers / (8 if appends < 10 else 2), str(told)
    assert told.faults > appends * writers / 2, str(told)
    assert told.longest_s < 120, str(told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "appends", "writers"),
    [
        ("s3fs", 2, 2),
        *(pytest.param(library, 5, 4, marks=pytest.mark.long) for library in LIBRARIES),
    ],
)
def test_no_append_through_a_library_of_fsspec_is_lost_doubled_or_misreported(
    library: str, appends: int, writers: int, request: pytest.FixtureRequest
) -> None:
    """The libraries repeat requests in secret, so many commits meet their own first try."""
    server = request.getfixturevalue(LIBRARIES[library].server)
    told = run(server, appends, writers, seed=7, share=0.1, library=library)
    assert told.problems == [], str(told)
    assert len(told.done) >= appends * writers / 2, str(told)


def test_the_comparison_finds_what_is_lost_doubled_misreported_and_foreign() -> None:
    none = frozenset[int]()
    fair = Told(0, 0, frozenset({1, 2}), frozenset({3}), frozenset({4}), Counter([1, 2]), 0.0)
    assert fair.problems == []
    assert replace(fair, rows=Counter([1, 2, 4])).problems == []
    for rows, what in (
        ([1], "lost: [2]"),
        ([1, 2, 2], "doubled: [2]"),
        ([1, 2, 3], "failed and there: [3]"),
        ([1, 2, 5], "foreign: [5]"),
    ):
        [problem] = replace(fair, rows=Counter(rows)).problems
        assert what in problem
    assert replace(fair, done=none, rows=Counter()).problems == []
