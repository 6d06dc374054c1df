"""The pieces in memory stay within their limit, and the ones used last stay."""

from __future__ import annotations

import random

from colonnade.manifests.store.cache.memory import MemoryPieces
from colonnade.manifests.store.cache.pieces import Piece


def test_the_pieces_used_last_stay() -> None:
    memory = MemoryPieces(100)
    for number in range(5):
        memory.keep("object", Piece(20 * number, bytes([number]) * 20))
    assert memory.find("object", [(0, 1)]) == [Piece(0, bytes(20))]
    memory.keep("other", Piece(0, b"x" * 20))
    assert [piece.start for piece in sorted(memory.find("object", [(0, 100)]))] == [0, 40, 60, 80]


def test_a_piece_that_would_push_out_all_others_is_not_kept() -> None:
    memory = MemoryPieces(100)
    memory.keep("object", Piece(0, bytes(26)))
    assert memory.find("object", [(0, 26)]) == []


def test_a_shorter_piece_does_not_replace_a_longer_one() -> None:
    memory = MemoryPieces(100)
    memory.keep("object", Piece(0, b"abcdef"))
    memory.keep("object", Piece(0, b"abc"))
    assert memory.find("object", [(5, 1)]) == [Piece(0, b"abcdef")]


def test_a_forgotten_object_has_no_pieces_and_takes_no_room() -> None:
    memory = MemoryPieces(100)
    for key in ("a", "b"):
        for number in range(2):
            memory.keep(key, Piece(25 * number, bytes(25)))
    memory.forget("a")
    memory.keep("c", Piece(0, bytes(25)))
    assert memory.find("a", [(0, 50)]) == []
    assert len(memory.find("b", [(0, 50)])) == 2


def test_random_use_never_passes_the_limit_or_returns_other_bytes() -> None:
    order, limit = random.Random(3), 1000
    memory = MemoryPieces(limit)
    objects = {key: order.randbytes(500) for key in "abcd"}
    for _ in range(3000):
        key, start = order.choice("abcd"), order.randrange(500)
        if order.random() < 0.02:
            memory.forget(key)
        else:
            memory.keep(key, Piece(start, objects[key][start : start + order.randrange(1, 99)]))
        held = [(k, piece) for k in "abcd" for piece in memory.find(k, [(0, 500)])]
        assert sum(len(piece.data) for _, piece in held) <= limit
        assert all(piece.data == objects[k][piece.start : piece.end] for k, piece in held)
