"""Every name that is built is a valid name, differs from all other names, and is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests import object_names as names
from colonnade.manifests.ids import job_id_of, new_job_id, new_object_id, new_table_id
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.store.checks import check_name
from colonnade.manifests.vacuum.objects import describe

NUMBERS = st.integers(0, 10**20 - 1)
COLUMNS = st.integers(1, 2**31 - 1)


@given(NUMBERS, NUMBERS)
def test_names_of_epochs_are_in_the_order_of_their_numbers(one: int, other: int) -> None:
    assert (names.epoch_name(one) < names.epoch_name(other)) == (one < other)
    assert names.epoch_number(names.epoch_name(one)) == one


@pytest.mark.parametrize("name", [names.HINT, "_manifest/1.json", "00000000000000000001.json"])
def test_other_names_are_not_epochs(name: str) -> None:
    assert names.epoch_number(name) is None


@given(NUMBERS, COLUMNS)
def test_vacuum_understands_each_name_that_is_built(number: int, column: int) -> None:
    table, job = new_table_id(), new_job_id()
    made = new_object_id(job)
    prefix = names.table_prefix(table)
    data = {
        names.footer_name(prefix, made),
        names.column_segment_name(prefix, made, column),
        names.index_name(prefix, made, column),
        names.packed_name(prefix, made),
        names.deletion_vector_name(prefix, made),
        names.origin_name(prefix, made),
    }
    kinds = {
        names.HINT: "cache",
        names.SEGMENT_NAMES: "cache",
        names.JOURNAL: "other",
        names.OLDER_JOURNAL: "other",
        names.epoch_name(number): "epoch",
        names.freed_name(table, number): "mark",
        names.checkpoint_name(made): "checkpoint",
        names.copy_name(made): "checkpoint",
        **dict.fromkeys(data, "data"),
    }
    assert (len(data), len(kinds)) == (6, 14), "no two names are equal"
    for name, kind in kinds.items():
        check_name(name)
        found = describe(ObjectInfo(name, 1, None))
        assert (found.kind, found.target, found.unfinished) == (kind, name, False)
        assert found.epoch == (number if kind == "epoch" else None)
        assert found.object == (made if kind in ("checkpoint", "data") else None)
        assert found.object is None or job_id_of(found.object) == job
        in_folder = kind == "data" and name.startswith(names.rowset_folder(prefix, made) + "/")
        assert found.folder == (names.rowset_folder(prefix, made) if in_folder else None)
        if kind == "data":
            folder, entry = name.split("/")[:2]
            assert names.is_table_folder(folder)
            assert names.is_in_table_folder(entry)
            assert describe(ObjectInfo(name.removeprefix(prefix), 1, None)).kind == "other"


@given(st.integers(1, 10**20 - 1))
def test_epoch_0_is_needed_by_all_other_parts_of_the_log(number: int) -> None:
    assert not names.needs_log(names.epoch_name(0))
    for name in (names.HINT, names.epoch_name(number), names.freed_name("a" * 16, number)):
        assert names.needs_log(name)
