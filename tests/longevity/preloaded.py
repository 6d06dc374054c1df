"""Loaded once, before the first writer of keyed tables is forked.

Each kind of batch is sent here once. What that loads and compiles, no process has to load again
after it was killed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import colonnade
from tests.longevity.keyed_referee import begin
from tests.longevity.keyed_roles import MIX, Tables, batch_of, send
from tests.longevity.record import Record
from tests.longevity.setting import settle


def load() -> None:
    """Send batches until each kind was among them, and read the tables."""
    with tempfile.TemporaryDirectory() as folder:
        setting = settle(Path(folder))
        begin(setting, seed=0)
        known, record, left, number = Tables(), Record(setting.records, "writer-0"), {*MIX}, 0
        while left:
            batch = batch_of("writer-0", number)
            send(setting.place, "writer-0", batch, known, record)
            known.apply(batch)
            left -= {batch.action}
            number += 1
        colonnade.open(setting.place / "sums").scan().to_arrow()


load()
