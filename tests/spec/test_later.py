"""What later versions are expected to write, as docs/decisions/later.md places it, is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import decode_model, seal, unseal
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.footer import Block, ColumnSegment, Footer
from tests.log_samples import ORDERS, append, entry, make_log, with_orders

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "later.md"
Edit = Callable[[dict[str, Any]], object]
"""Changes the body of an epoch."""


def added(**fields: object) -> Edit:
    """Give the RowSet of an epoch other fields."""
    return lambda body: body["ops"][0]["rowset"].update(fields)


def typed(data_type: object) -> Edit:
    """Give the first column of a new table another type."""

    def edit(body: dict[str, Any]) -> None:
        body["ops"][0]["table_schema"]["fields"][0]["type"] = data_type

    return edit


def operation(op: str) -> Edit:
    return lambda body: body.update(ops=[{"op": op, "name": "x"}])


LATER: dict[str, list[tuple[int, Edit, str]]] = {
    "views": [(2, operation("create_view"), "the operation 'create_view'")],
    "branches": [(2, operation("create_branch"), "the operation 'create_branch'")],
    "clones in a database": [(2, added(home=ORDERS), r"the key 'ops\.0\..*home'")],
    "encryption": [
        (0, lambda body: body["ops"][0].update(encryption={}), r"the key 'ops\.0\..*encryption'"),
        (2, added(key="x"), r"the key 'ops\.0\..*key'"),
    ],
    "nanosecond timestamps": [
        (1, typed("timestamp(9)"), r"the type 'timestamp\(9\)'"),
        (1, typed("timestamp_ntz(9)"), r"the type 'timestamp_ntz\(9\)'"),
    ],
    "geometry": [
        (1, typed("geometry(4326)"), r"the type 'geometry\(4326\)'"),
        (1, typed("geography(4326)"), r"the type 'geography\(4326\)'"),
    ],
    "BLOB references": [
        (1, typed("blob"), "the type 'blob'"),
        (2, added(blobs=[]), r"the key 'ops\.0\..*blobs'"),
    ],
    "linked Parquet files": [
        (2, added(place="linked"), "the place 'linked'"),
        (2, added(link={"url": "s3://b/k"}), r"the key 'ops\.0\..*link'"),
    ],
}
"""For features that the log shows: the epochs that hold them, and the words that are refused."""

IN_A_ROWSET = {"shredded VARIANT"}
NOTHING_NEW = {"replicas"}


def rows_of_the_page() -> list[list[str]]:
    lines = re.findall(r"^\| (?!-|feature)(.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def database() -> MemoryStore:
    store = MemoryStore()
    log = make_log(store)
    log.commit(append(entry()), with_orders(store, log))
    return store


def refusal(store: MemoryStore) -> str:
    with pytest.raises(UnsupportedFormatError) as caught:
        Log(store).reader.read_head()
    return caught.value.message


def test_the_page_and_these_tests_have_the_same_features() -> None:
    assert {row[0] for row in rows_of_the_page()} == {*LATER, *IN_A_ROWSET, *NOTHING_NEW}


@pytest.mark.parametrize(
    ("number", "edit", "named"),
    [case for cases in LATER.values() for case in cases],
    ids=[f"{name}-{at}" for name, cases in LATER.items() for at, _ in enumerate(cases)],
)
def test_what_a_later_version_writes_is_refused_by_its_name(
    number: int, edit: Edit, named: str
) -> None:
    store = database()
    body = json.loads(unseal(store.get(epoch_name(number)), "x"))
    edit(body)
    store.put(epoch_name(number), seal(json.dumps(body).encode()), sync=False)
    said = refusal(store)
    assert re.search(f"holds {named}, which this version does not know: upgrade", said), said
    assert epoch_name(number) in said


def test_each_feature_of_the_page_is_refused_by_its_name() -> None:
    names = [match[1] for row in rows_of_the_page() if (match := re.match("`([a-z_]+)`", row[2]))]
    assert len(names) > 5
    for name in names:
        store = database()
        log = make_log(store)
        body = json.loads(unseal(store.get(epoch_name(2)), "x"))
        body["ops"].insert(0, EnableFeatures(reader=(name,)).model_dump())
        store.put(epoch_name(2), seal(json.dumps(body).encode()), sync=False)
        assert f"cannot read: {name}; upgrade Colonnade" in refusal(store)
        assert log.reader.read_at(1).tables


def test_an_encrypted_database_is_refused_by_its_first_epoch_whatever_the_rest_looks_like() -> None:
    store = database()
    for info in [*store.list("")]:
        store.put(info.name, b"CLNE\x01" + bytes(64), sync=False)
    body = json.loads(unseal(database().get(epoch_name(0)), "x"))
    body["ops"][0].update(encryption={"wrapped": "AA=="}, reader_features=["encryption"])
    store.put(epoch_name(0), seal(json.dumps(body).encode()), sync=False)
    store.put(HINT, b"CLNE\x01" + bytes(64), sync=False)
    assert "encryption" in refusal(store)


def test_a_shredded_column_segment_is_refused_by_its_name() -> None:
    statistics = ColumnStatistics(min="i:0", max="i:9")
    block = Block(crc32c=1, encoding="plain")
    segment = ColumnSegment(
        type="long", offset=0, length=8, decoded=8, block=block, statistics=statistics
    )
    body = Footer(rows=1, cuts=1, columns={1: segment}).model_dump(mode="json", exclude_none=True)
    body["columns"]["1"]["shredded"] = {"a.b": {}}
    with pytest.raises(UnsupportedFormatError, match=r"the key 'columns\.1\.shredded'.*upgrade"):
        decode_model(Footer, seal(json.dumps(body).encode()), "The footer of x")
