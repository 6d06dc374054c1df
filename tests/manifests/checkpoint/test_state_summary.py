"""A summary of states tells of any of them what each of them names."""

from __future__ import annotations

import random

import pytest

from colonnade.manifests.checkpoint.state_summary import (
    NO_STATES,
    StateSummary,
    decode_states,
    encode_states,
    summary_of,
)


def some_states(order: random.Random, count: int = 7) -> StateSummary:
    """Seven states. Each names most objects of the state before it."""
    lengths: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    for _ in range(1 + order.randrange(40)):
        name, first = order.randbytes(16).hex(), order.randrange(count)
        spans[name] = (first, order.randrange(first, count))
        if order.random() < 0.5:
            lengths[name] = 1 + order.randrange(2**40)
    return summary_of([order.randbytes(16).hex() for _ in range(count)], spans, lengths)


def named(summary: StateSummary, root: str) -> set[str]:
    at = summary.roots.index(root)
    return {name for name, (first, last) in summary.spans().items() if first <= at <= last}


@pytest.mark.parametrize("seed", range(20))
def test_some_of_the_states_name_what_each_of_them_names_and_no_more(seed: int) -> None:
    order = random.Random(seed)
    summary = some_states(order)
    chosen = order.sample(summary.roots, order.randrange(8))
    found = summary.of({*chosen, "f" * 32})
    assert {*found.roots} == {*chosen}
    assert {*found.objects} == {name for root in chosen for name in named(summary, root)}
    for root in chosen:
        assert named(found, root) == named(summary, root)
    lengths = summary.parts()
    assert found.parts() == {name: lengths[name] for name in found.objects if name in lengths}
    assert found.of(chosen) == found


@pytest.mark.parametrize("seed", range(20))
def test_a_summary_is_read_as_it_was_written(seed: int) -> None:
    summary = some_states(random.Random(seed))
    assert decode_states(encode_states(summary), "a file") == summary


def test_summaries_differ_where_a_root_an_object_a_length_or_a_span_does() -> None:
    def one(root: str = "1", name: str = "2", span: tuple[int, int] = (0, 0), length: int = 3):  # type: ignore[no-untyped-def]
        return summary_of([root * 32, "9" * 32], {name * 32: span}, {name * 32: length})

    assert one() == one()
    for other in (one(root="a"), one(name="a"), one(span=(0, 1)), one(length=4), NO_STATES, None):
        assert one() != other


def test_no_states_take_no_bytes() -> None:
    assert encode_states(NO_STATES) is None
    assert decode_states(None, "a file") is NO_STATES
    assert NO_STATES.of({"1" * 32}) == NO_STATES
