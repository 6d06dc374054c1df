"""Pages of a map: where a key lies, which pages move, and which places are refused."""

from __future__ import annotations

import secrets

import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.checkpoint.paged_map import (
    PagePlace,
    PageTable,
    decode_page,
    decode_table,
    empty_table,
    encode_page,
    encode_table,
    page_count_for,
    page_of,
    plan_moves,
)
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.map_ref import PAGE_LIMIT, Bundle
from tests.examples_of import examples

LARGEST = 2**63 - 1
BUNDLE = Bundle(object="a" * 32, length=100)


def one_page(index: int, offset: int, length: int, *bundles: Bundle) -> PageTable:
    arrays = [np.array([each], np.int64) for each in (index, offset, length)]
    return PageTable(1, bundles, *arrays)


@given(st.text(), st.integers(0, 20))
def test_a_page_is_named_by_the_first_bits_of_the_checksum_of_its_keys(key: str, bits: int) -> None:
    checksum = format(google_crc32c.value(key.encode()), "032b")
    assert page_of(key, 2**bits) == int(checksum[:bits] or "0", 2)


@given(st.integers(0, 2**50), st.integers(1, 2**24))
def test_a_map_has_the_fewest_pages_that_keep_the_average_page_small(size: int, page: int) -> None:
    count = page_count_for(size, page)
    assert count.bit_count() == 1
    assert size <= page * count or count == PAGE_LIMIT
    assert count == 1 or size > page * count // 2


json_values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_a_page_reads_back_as_the_entries_that_it_was_written_from(
    entries: dict[str, object],
) -> None:
    assert decode_page(encode_page(entries), "page") == entries


@st.composite
def tables(draw: st.DrawFn) -> PageTable:
    """Page tables whose bundles hold each stored page once, one after another, with garbage."""
    pages = 2 ** draw(st.integers(0, 6))
    count = draw(st.integers(1, 5))
    indexes = np.array(draw(st.lists(st.integers(0, count - 1), min_size=pages, max_size=pages)))
    sizes = st.integers(0, 50) | st.just(2**40)
    lengths = np.array(draw(st.lists(sizes, min_size=pages, max_size=pages)), np.int64)
    offsets, ends = np.zeros(pages, np.int64), [0] * count
    for page, bundle in enumerate(indexes.tolist()):
        offsets[page] = ends[bundle]
        ends[bundle] += int(lengths[page]) + draw(st.integers(0, 30))
    bundles = tuple(Bundle(object=secrets.token_hex(16), length=end) for end in ends)
    return PageTable(pages, bundles, indexes, offsets, lengths)


@given(tables())
def test_a_table_of_pages_reads_back_with_every_place(table: PageTable) -> None:
    again = decode_table(encode_table(table), "root")
    assert (again.count, again.bundles) == (table.count, table.bundles)
    assert [again.place(i) for i in range(again.page_count)] == [
        table.place(i) for i in range(table.page_count)
    ]
    assert len(table.places) == np.count_nonzero(table.lengths)


@st.composite
def states(draw: st.DrawFn) -> tuple[PageTable, PageTable]:
    """Two states of a map. Some pages of the second one moved, came or went, or all did."""
    one = draw(tables())
    if draw(st.booleans()):
        return one, draw(tables())
    order = draw(st.permutations(range(len(one.bundles))))
    new = {old: number for number, old in enumerate(order)}
    indexes = np.array([new[int(index)] for index in one.bundle_indexes])
    offsets, lengths = one.offsets.copy(), one.lengths.copy()
    bundles = [one.bundles[old] for old in order]
    bundles.append(Bundle(object=secrets.token_hex(16), length=2**50))
    for page in draw(st.sets(st.integers(0, one.page_count - 1))):
        changed, number = draw(st.sampled_from((indexes, offsets, lengths))), len(order)
        changed[page] = number if changed is indexes else draw(st.integers(0, 50))
    return one, PageTable(one.count, tuple(bundles), indexes, offsets, lengths)


def by_page(table: PageTable) -> dict[int, PagePlace]:
    every = ((page, table.place(page)) for page in range(table.page_count))
    return {page: place for page, place in every if place is not None}


@given(states())
def test_the_pages_that_differ_between_two_states_are_found(
    both: tuple[PageTable, PageTable],
) -> None:
    before, after = both
    there, now = by_page(before), by_page(after)
    assert after.places == {*now.values()}
    shared = now.items() & there.items() if len(before.lengths) == len(after.lengths) else set()
    differ = [page for page, place in now.items() if (page, place) not in shared]
    assert after.pages_beside(before) == differ
    assert after.places_beside(before) == [now[page] for page in differ]
    gone, come = before.places_beside(after), after.places_beside(before)
    assert (before.places - {*gone}) | {*come} == after.places
    assert after.pages_beside(after) == []


@given(tables(), st.data())
def test_pages_are_found_by_place_and_by_object(table: PageTable, data: st.DataObject) -> None:
    found = by_page(table)
    pages = data.draw(st.sets(st.sampled_from(sorted(found)))) if found else set()
    elsewhere = PagePlace("f" * 32, 0, 1)
    assert table.pages_at({*(found[page] for page in pages), elsewhere}) == sorted(pages)
    for bundle in table.bundles:
        inside = [place for place in found.values() if place.object == bundle.object]
        assert table.pages_in(bundle.object) == [(each.offset, each.length) for each in inside]
    assert table.pages_in(elsewhere.object) == []


def test_an_empty_map_has_one_page_that_is_not_stored() -> None:
    table = decode_table(encode_table(empty_table()), "root")
    assert (table.page_count, table.byte_count, table.places) == (1, 0, frozenset())
    assert not table.objects


NUMBERS = st.sampled_from((-(2**63), -1, 0, 1, 50, 99, 100, 101, 2**62, LARGEST))


@given(index=st.sampled_from((-1, 0, 1, LARGEST)), offset=NUMBERS, length=NUMBERS)
def test_a_page_is_refused_exactly_if_it_lies_outside_of_its_bundle(
    index: int, offset: int, length: int
) -> None:
    ref = encode_table(one_page(index, offset, length, BUNDLE))
    fits = index == 0 and offset >= 0 and length >= 0 and (not length or offset + length <= 100)
    if fits:
        assert decode_table(ref, "root").byte_count == length
    else:
        with pytest.raises(CorruptionError, match="root is malformed"):
            decode_table(ref, "root")


def test_a_stored_page_without_a_bundle_is_refused() -> None:
    with pytest.raises(CorruptionError, match="outside its bundle"):
        decode_table(encode_table(one_page(0, 0, 1)), "root")


def test_a_number_of_pages_that_is_no_power_of_two_is_refused() -> None:
    none = np.zeros(3, np.int64)
    with pytest.raises(CorruptionError, match="3 pages"):
        decode_table(encode_table(PageTable(0, (), none, none, none)), "root")


@settings(max_examples=examples(50))
@given(st.randoms(use_true_random=False), st.integers(0, 6))
def test_many_changes_keep_the_bundles_few_and_the_garbage_below_the_live_bytes(
    random: object, bits: int
) -> None:
    pages, table = 2**bits, None
    draw = random.randint  # type: ignore[attr-defined]
    indexes, offsets, lengths = (np.zeros(pages, np.int64) for _ in range(3))
    table = PageTable(0, (), indexes, offsets, lengths)
    for _ in range(60):
        rewritten = sorted({draw(0, pages - 1) for _ in range(draw(1, 4))})
        sizes = {page: draw(0, 1000) for page in rewritten}
        table = rewrite(table, sizes)
        live = np.bincount(table.bundle_indexes, table.lengths, minlength=len(table.bundles))
        stored = sum(bundle.length for bundle in table.bundles)
        assert stored <= 2 * table.byte_count
        # Each bundle has more than twice the live bytes of all smaller ones that were kept.
        assert np.count_nonzero(live) <= 2 + max(1, table.byte_count).bit_length()


def rewrite(table: PageTable, sizes: dict[int, int]) -> PageTable:
    """Store a new bundle as a writer does: the rewritten pages, then those that move."""
    moved = plan_moves(table, sizes, sum(sizes.values()))
    assert not set(moved) & set(sizes)
    indexes, offsets = table.bundle_indexes.copy(), table.offsets.copy()
    lengths = table.lengths.copy()
    end = 0
    for page in (*sizes, *moved):
        lengths[page] = sizes.get(page, int(lengths[page]))
        indexes[page], offsets[page] = len(table.bundles), end
        end += int(lengths[page])
    every = (*table.bundles, Bundle(object=secrets.token_hex(16), length=end))
    kept = sorted(set(indexes[lengths > 0].tolist()))
    number = {old: new for new, old in enumerate(kept)}
    again = np.array([number.get(each, 0) for each in indexes.tolist()], np.int64)
    return PageTable(0, tuple(every[each] for each in kept), again, offsets, lengths)
