"""Bytes as people write and read them."""

import pytest

from colonnade.manifests.sizes import parse_size, size_text


def test_sizes_are_read_with_their_units() -> None:
    texts = ("7", "7b", " 2k ", "128mb", "3 MB", "1GiB", "1t")
    sizes = [7, 7, 2048, 128 * 2**20, 3 * 2**20, 2**30, 2**40]
    assert [parse_size(text) for text in texts] == sizes


@pytest.mark.parametrize("text", ["m", "-1", "1.5m", "7ib", "7 bytes", "1mm", "٣"])
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_size(text)


def test_sizes_are_shown_with_three_digits() -> None:
    sizes = (0, 1023, 1024, 2**20, 2**50)
    assert [*map(size_text, sizes)] == ["0 B", "1023 B", "1 KiB", "1 MiB", "1.02e+03 TiB"]
