"""A store that cannot order its writers gives every writer the turn."""

from __future__ import annotations

from colonnade.manifests.store.turn import Turn


def test_a_turn_of_a_store_without_an_order_is_free_for_everybody_at_once() -> None:
    with Turn() as one, Turn() as other:
        assert one.take(0)
        assert other.take(0)
        assert not other.may_exist("_manifest/1.json")
    one.give_up()
