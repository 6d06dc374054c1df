"""A trigger takes as many pieces as fit its limits, and at least one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from colonnade.tableformat.streams.admission import Admission, Limits
from colonnade.tableformat.streams.offsets import Place
from colonnade.tableformat.streams.pieces import Piece, Source
from tests.tableformat.streams.reading import Reading, any_limits, appended


@pytest.mark.parametrize("seed", range(50))
def test_as_many_pieces_are_admitted_as_a_model_counts(seed: int) -> None:
    rng = random.Random(seed)
    limits, source = any_limits(rng), Source(1, 0, ())
    pieces = [
        Piece(Place(i), source, None, frozenset((i // 2,)), rng.randrange(1, 900), rng.randrange(9))
        for i in range(30)
    ]

    def fits(count: int) -> bool:
        some = pieces[:count]
        counts = (
            (limits.files, len({number for each in some for number in each.files})),
            (limits.bytes, sum(each.bytes for each in some)),
            (limits.rows, sum(each.rows for each in some)),
        )
        return all(most is None or count <= most for most, count in counts)

    wanted = max(1, max(count for count in range(31) if fits(count)))
    admission = Admission(limits)
    assert admission.is_empty
    admitted = [each for each in range(30) if admission.admits(pieces[each])]
    assert admitted[:wanted] == list(range(wanted))
    assert wanted == 30 or wanted not in admitted


def test_the_limit_of_a_trigger_counts_from_its_own_start(tmp_path: Path) -> None:
    table = appended(tmp_path, [2] * 6)
    reading = Reading(table, limits=Limits(rows=4))
    assert [len(rows) for rows in reading.rest()] == [4, 4, 4]


def test_limits_hold_while_a_stream_reads_the_rows_that_the_table_had(tmp_path: Path) -> None:
    table = appended(tmp_path, [3] * 4)
    for limits, wanted in (
        (Limits(files=1), [3] * 4),
        (Limits(rows=7), [6, 6]),
        (Limits(bytes=1), [3] * 4),
        (Limits(), [12]),
    ):
        assert [len(rows) for rows in Reading(table, limits=limits).rest()] == wanted
