"""Tags and pins keep epochs: by name, until they are removed or their time is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from colonnade import ArrowDatabase
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.tableformat.table.epochs.tags_and_pins import commit_tag, is_tag, tagged_epoch
from tests.log_samples import replay
from tests.tableformat.table.epochs.test_restore import database, read


def test_tags_name_epochs_until_they_are_removed() -> None:
    db = database()
    table = db.table("a")
    assert db.tag("first", 2) == 2
    table.delete()
    assert db.tag("empty") == table.epoch
    assert db.tags() == {"empty": 6, "first": 2}
    assert len(read(table, tag="first")) == 10
    assert read(table, tag="empty") == []
    table.restore(tag="first")
    assert len(read(table)) == 10
    db.untag("first")
    with pytest.raises(NotFoundError, match="'first' does not exist; the tags are: empty"):
        table.scan(tag="first")


def test_a_tag_that_was_given_meanwhile_is_refused() -> None:
    db = database()
    seen = db._snapshot
    db.tag("t", 1)
    with pytest.raises(AlreadyExistsError, match="'t' exists already, for epoch 1"):
        commit_tag(db._log, seen, "t", 2)
    assert db.tags() == {"t": 1}


def test_pins_are_renewed_and_given_up() -> None:
    db = database()
    assert db.pin("reader", 60, epoch=3) == 3
    first = db.pins()["reader"]
    db.pin("reader", 6000, epoch=3)
    longer = db.pins()["reader"]
    assert longer.until > first.until
    db.pin("reader", 1, epoch=3)
    assert db.pins()["reader"] == longer
    with pytest.raises(AlreadyExistsError, match="'reader' exists already, for epoch 3"):
        db.pin("reader", 60)
    db.unpin("reader")
    assert db.pins() == {}


def test_tags_and_pins_are_kept_by_checkpoints() -> None:
    db = database(interval=2)
    for epoch in range(4):
        db.tag(f"t{epoch}", epoch)
        db.pin(f"p{epoch}", 60, epoch)
    db.untag("t1")
    db.unpin("p2")
    head, again = Log(db._store).reader.read_head(), replay(db._store)
    assert (head.tags, head.pins) == (again.tags, again.pins)
    assert head.tags == {"t0": 0, "t2": 2, "t3": 3}


def test_a_text_that_means_an_epoch_is_no_tag() -> None:
    assert not any(map(is_tag, ("5", " 12 ", "-1", "+3", "007")))
    assert all(map(is_tag, ("v5", "5a", "1.0", "1e3", "", "five")))


def test_the_epoch_of_a_tag_is_found_by_its_exact_name() -> None:
    db = database()
    db.tag("Release", 2)
    assert tagged_epoch(db._snapshot, "Release") == 2
    with pytest.raises(NotFoundError, match="'release' does not exist; the tags are: Release"):
        tagged_epoch(db._snapshot, "release")


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda db: db.tag("t"), AlreadyExistsError, "'t' exists already, for epoch 2"),
        (lambda db: db.tag("u", 99), NotFoundError, "Epoch 99 cannot be kept"),
        (lambda db: db.tag("", 1), InvalidInputError, "1 to 255 printable"),
        (lambda db: db.tag("5", 1), InvalidInputError, "A tag cannot be named '5'"),
        (lambda db: db.tag("u", "one"), InvalidInputError, "whole number"),
        (lambda db: db.untag("u"), NotFoundError, "Tag 'u' does not exist"),
        (lambda db: db.pin("p", 60, 99), NotFoundError, "Epoch 99"),
        (lambda db: db.pin("p", 0), InvalidInputError, "seconds above 0"),
        (lambda db: db.pin("p", True), InvalidInputError, "seconds above 0"),
        (lambda db: db.pin("p", 1e12), InvalidInputError, "at most 100 years"),
        (lambda db: db.pin("p", float("inf")), InvalidInputError, "at most 100 years"),
        (lambda db: db.pin("p", 60, -1), NotFoundError, "Epoch -1 of .* does not exist"),
        (lambda db: db.tag("u", -1), NotFoundError, "Epoch -1 of .* does not exist"),
        (lambda db: db.table("a").scan(tag=["t"]), InvalidInputError, "1 to 255 printable"),
        (lambda db: db.unpin("p"), NotFoundError, "Pin 'p' does not exist"),
    ],
)
def test_an_epoch_that_cannot_be_kept_is_named(
    use: Callable[[ArrowDatabase], Any], error: type[Exception], message: str
) -> None:
    db = database()
    db.tag("t", 2)
    head = db.refresh().epoch
    with pytest.raises(error, match=message):
        use(db)
    assert db.refresh().epoch == head
