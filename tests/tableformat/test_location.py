"""Where a path's database is found, and what looking for it costs behind a network."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from colonnade.manifests.epochs.opening_reads import FIRST
from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.log.creation import create_database
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.store import MemoryStore, StoreAddress
from colonnade.tableformat import location
from tests.far_store import FarStore
from tests.faults import Fault
from tests.log_samples import append, contents, make_log
from tests.manifests.log.far import far_log

LAKE = "far://bucket/lake"
LOOK, LOOK_ABOVE = 1 + FIRST, 2
"""The requests of a first look: the hint and the first slots."""


class Bucket:
    """The stores at all paths of a bucket. Each store counts its own requests."""

    def __init__(self) -> None:
        self.stores: dict[str, FarStore] = {}

    def open(self, address: StoreAddress | str, options: object = None) -> FarStore:
        """Return the store at an address."""
        url = StoreAddress.of(address).url
        return self.stores.setdefault(url, FarStore(MemoryStore(url)))

    def create(self, url: str, *, lone_table: bool = False) -> None:
        """Create a database at a URL."""
        create_database(self.open(url).inner, lone_table=lone_table)

    def requests(self) -> dict[str, int]:
        """Return the number of requests to each store that had any."""
        return {url: len(each.trace) for url, each in self.stores.items() if each.trace}


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    made = Bucket()
    with patch.object(location, "open_store", made.open):
        yield made


def test_a_database_and_the_folder_above_it_are_looked_at_side_by_side(bucket: Bucket) -> None:
    bucket.create(LAKE)
    assert location.locate(LAKE).store is bucket.stores[LAKE]
    assert bucket.stores[LAKE].rounds == 1
    assert bucket.requests() == {LAKE: LOOK, "far://bucket": LOOK_ABOVE}


def test_a_table_is_found_in_the_database_above_it(bucket: Bucket) -> None:
    bucket.create(LAKE)
    found = location.locate(f"{LAKE}/orders")
    assert (found.store, found.table, found.exists) == (bucket.stores[LAKE], "orders", True)
    assert bucket.requests() == {f"{LAKE}/orders": LOOK, LAKE: LOOK_ABOVE}


@pytest.mark.parametrize(
    ("path", "epochs", "rounds"),
    [
        *((LAKE, epochs, rounds) for epochs, rounds in [(2, 1), (60, 2), (100, 2)]),
        *((f"{LAKE}/orders", epochs, 2) for epochs in (2, 60, 100)),
    ],
)
def test_the_head_of_a_located_database_costs_at_most_two_rounds_more(
    bucket: Bucket, path: str, epochs: int, rounds: int
) -> None:
    bucket.stores[LAKE] = far_log(epochs)[0]
    found = location.locate(path)
    log = Log(found.store)
    with bucket.stores[LAKE].counted() as cost:
        assert log.reader.read_head(opening=found.opening).epoch == epochs
    assert cost.rounds == rounds
    assert all(call.name != HINT for call in cost.calls)


def test_an_old_hint_of_a_location_leads_to_the_same_head(bucket: Bucket) -> None:
    bucket.stores[LAKE] = far_log(60)[0]
    found = location.locate(LAKE)
    state, log = Log(found.store).reader.read_head(), make_log(bucket.stores[LAKE].inner)
    for _ in range(80):
        state = log.commit(append(), state)
    assert found.opening is not None
    assert isinstance(found.opening.hint, NotFoundError)
    assert contents(log, Log(found.store).reader.read_head(opening=found.opening)) == contents(
        log, state
    )


def test_the_nearest_database_decides_and_not_the_one_that_answers_first(bucket: Bucket) -> None:
    bucket.create(LAKE)
    bucket.create(f"{LAKE}/orders", lone_table=True)
    assert location.locate(f"{LAKE}/orders").store is bucket.stores[f"{LAKE}/orders"]
    with pytest.raises(InvalidInputError, match=f"too deep inside the database {LAKE};"):
        location.locate(f"{LAKE}/a/b/c")


def test_a_folder_above_that_must_not_be_read_matters_only_without_a_database(
    bucket: Bucket,
) -> None:
    bucket.create(LAKE)
    bucket.stores["far://bucket"] = FarStore(MemoryStore("far://bucket"))
    bucket.stores["far://bucket"]._plan = dict.fromkeys(range(1, 40), Fault.FAIL_BEFORE)
    assert location.locate(LAKE).exists
    with pytest.raises(StoreError, match="far://bucket/"):
        location.locate("far://bucket/pond")
