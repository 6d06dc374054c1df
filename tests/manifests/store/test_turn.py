"""A store that cannot order its writers gives every writer the turn, and carries no notes."""

from __future__ import annotations

from colonnade.manifests.store.turn import Turn


def test_a_turn_of_a_store_without_an_order_is_free_for_everybody_at_once() -> None:
    with Turn() as one, Turn() as other:
        assert one.take(0)
        assert other.take(0)
        one.hold()
        assert other.take(0)
    one.give_up()
    assert not one.wakes


def test_without_an_order_no_note_is_left_and_none_is_found() -> None:
    with Turn() as turn:
        assert not turn.leave(b"note\n")
        turn.await_notes(3)
        assert turn.collect() == b""
        turn.state(b"line\n")
        assert turn.stated() == b""
        assert not turn.may_exist("_manifest/1.json")
