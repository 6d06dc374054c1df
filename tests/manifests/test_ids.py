"""Ids have their patterns, and an object's id tells the job that wrote it."""

from __future__ import annotations

from colonnade.manifests.ids import (
    OBJECT_ID,
    TABLE_ID,
    TRANSACTION_ID,
    job_id_of,
    new_job_id,
    new_object_id,
    new_table_id,
    new_transaction_id,
)


def test_new_ids_have_their_patterns_and_are_never_the_same() -> None:
    job = new_job_id()
    for pattern, ids in (
        (TABLE_ID, [new_table_id() for _ in range(100)]),
        (OBJECT_ID, [new_object_id(job) for _ in range(100)]),
        (TRANSACTION_ID, [new_transaction_id() for _ in range(100)]),
    ):
        assert all(pattern.fullmatch(each) for each in ids)
        assert len(set(ids)) == 100


def test_an_object_tells_the_job_that_wrote_it() -> None:
    job = new_job_id()
    assert job_id_of(new_object_id(job)) == job


def test_digits_of_other_scripts_and_capitals_are_not_ids() -> None:
    for text in ("٣" * 16, "A" * 16, "0" * 15, "0" * 17, "0" * 15 + "\n", "../" + "0" * 13):
        assert TABLE_ID.fullmatch(text) is None
