"""Plan the requests for many ranges of one object. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

GAP = 256 << 10
"""Bytes between two ranges that cost less to read than another request."""

LONGEST = 8 << 20
"""The most bytes of one request. Longer ranges are read side by side."""


class Request(NamedTuple):
    """Bytes to ask for, and the ranges that they are cut into.

    A cut is (index of the wanted range, offset in it, offset in the request, length).
    """

    offset: int
    length: int
    cuts: tuple[tuple[int, int, int, int], ...]


def plan_requests(
    ranges: Sequence[tuple[int, int]], gap: int = GAP, longest: int = LONGEST
) -> list[Request]:
    """Return the requests for (offset, length) ranges: near ranges together, long ones divided.

    Together the cuts hold every byte of every range once. Empty ranges need no request.
    """
    pieces = sorted(
        (offset + start, min(longest, length - start), index, start)
        for index, (offset, length) in enumerate(ranges)
        for start in range(0, length, longest)
    )
    requests: list[Request] = []
    group: list[tuple[int, int, int, int]] = []
    begin = end = 0
    for piece in pieces:
        offset, length, _, _ = piece
        if group and (offset > end + gap or max(end, offset + length) - begin > longest):
            requests.append(_request(begin, end, group))
            group = []
        if not group:
            begin = end = offset
        end = max(end, offset + length)
        group.append(piece)
    if group:
        requests.append(_request(begin, end, group))
    return requests


def _request(begin: int, end: int, pieces: Sequence[tuple[int, int, int, int]]) -> Request:
    cuts = tuple((index, start, offset - begin, length) for offset, length, index, start in pieces)
    return Request(begin, end - begin, cuts)
