"""Every epoch names its writer, by one name for each process unless a log has its own."""

from __future__ import annotations

import pytest

from colonnade.manifests import engine
from colonnade.manifests.engine import engine_name, set_engine_name
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, with_orders


def test_the_name_of_the_process_is_the_writer_of_its_epochs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "_name", engine_name())
    set_engine_name("colonnade-test")
    store = MemoryStore()
    log = Log(store)
    base = with_orders(store, log)
    _, epoch = log.commit_change(append(), base)
    assert epoch is not None
    assert epoch.engine == engine_name() == "colonnade-test"
    _, epoch = Log(store, engine="other").commit_change(append(), base)
    assert epoch is not None
    assert epoch.engine == "other"
