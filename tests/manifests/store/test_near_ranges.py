"""Requests for ranges: together they give every byte once, and none is longer than the limit."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from colonnade.manifests.store.near_ranges import GAP, LONGEST, plan_requests

RANGES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 120)), max_size=12)


@given(RANGES, st.integers(0, 40), st.integers(1, 60))
@example([(0, 100), (10, 5), (10, 5)], 0, 7)
def test_the_cuts_restore_every_range_and_requests_ask_for_no_byte_beyond_a_gap(
    ranges: list[tuple[int, int]], gap: int, longest: int
) -> None:
    data = bytes(number % 251 for number in range(500))
    wanted = [bytearray(b"\xff" * length) for _, length in ranges]
    seen = [[0] * length for _, length in ranges]
    for request in plan_requests(ranges, gap, longest):
        assert 0 < request.length <= longest
        answer = data[request.offset : request.offset + request.length]
        used = [0] * request.length
        for index, start, at, length in request.cuts:
            wanted[index][start : start + length] = answer[at : at + length]
            seen[index][start : start + length] = [1 + each for each in seen[index][start:]][
                :length
            ]
            used[at : at + length] = [1] * length
        assert (used[0], used[-1]) == (1, 1)
        unused = "".join("x" if each else " " for each in used).split("x")
        assert max(map(len, unused)) <= gap
    assert wanted == [data[offset : offset + length] for offset, length in ranges]
    assert all(count == 1 for counts in seen for count in counts)


def test_two_near_ranges_are_one_request_and_a_byte_more_between_them_makes_two() -> None:
    near, far = (100 + GAP, 5), (101 + GAP, 5)
    assert [each.length for each in plan_requests([(0, 100), near])] == [105 + GAP]
    assert [each.length for each in plan_requests([(0, 100), far])] == [100, 5]


def test_a_range_of_five_gigabytes_is_divided_into_requests_of_the_longest_size() -> None:
    size = 5 * 2**30 + 1
    requests = plan_requests([(7, size)])
    assert [each.length for each in requests] == [LONGEST] * (size // LONGEST) + [size % LONGEST]
    assert requests[-1].offset + requests[-1].length == 7 + size


def test_nothing_is_asked_for_empty_ranges() -> None:
    assert plan_requests([]) == []
    assert plan_requests([(5, 0), (2**40, 0)]) == []
