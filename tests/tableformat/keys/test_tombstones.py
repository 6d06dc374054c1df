"""Deletions are compared with rows by the values of a sequence, whatever their order of arrival."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa

from colonnade.tableformat.keys.tombstones import Deletions
from tests.keyed_world import is_older


def test_rows_are_older_as_old_or_newer_than_the_newest_deletion_of_their_key() -> None:
    rng = random.Random(5)
    for _ in range(200):
        deleted = [(rng.randrange(4), rng.choice((None, 1, 2, 3))) for _ in range(rng.randrange(6))]
        rows = [(rng.randrange(5), rng.choice((None, 1, 2, 3))) for _ in range(rng.randrange(6))]
        deletions = Deletions(
            np.array([key for key, _ in deleted], np.int64),
            pa.array([at for _, at in deleted], pa.int64()),
        )
        keys = np.array([key for key, _ in rows], np.int64)
        found = deletions.compare(keys, pa.array([at for _, at in rows], pa.int64()))
        late = deletions.late(keys, pa.array([at for _, at in rows], pa.int64()))
        for (key, at), compared, is_late in zip(rows, found.tolist(), late.tolist(), strict=True):
            of_key = [each for other, each in deleted if other == key]
            older = any(is_older(at, each) for each in of_key)
            newer = all(is_older(each, at) for each in of_key)
            assert compared == (-1 if older else 1 if newer else 0)
            assert is_late is older


def test_values_of_any_sequence_type_are_compared_in_their_order() -> None:
    pairs: list[list[Any]] = [["10", "9"], [b"a", b"b"], [True, False]]
    for values in pairs:
        first, last = sorted(values)
        deletions = Deletions(np.array([0, 0]), pa.array([last, None]))
        found = deletions.compare(np.array([0, 0, 1]), pa.array([first, last, None]))
        assert found.tolist() == [-1, 0, 1]
