"""Bytes that wait on local disk come back unchanged, and a full disk says what to do."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import StoreError
from colonnade.tableformat.rowset.write import spill as module
from colonnade.tableformat.rowset.write.spill import Spill


@given(st.data())
def test_any_pieces_come_back_in_any_order(data: st.DataObject) -> None:
    written = data.draw(st.lists(st.binary(max_size=40), max_size=20))
    shuffled = data.draw(st.permutations(range(len(written))))
    window = data.draw(st.integers(1, 100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WINDOW_BYTES", window)
        spill = Spill()
        places = [spill.add(each) for each in written]
        for order in (range(len(written)), shuffled):
            found = b"".join(spill.read([places[i] for i in order]))
            assert found == b"".join(written[i] for i in order)
        assert spill.add(b"later").offset == sum(map(len, written))
        spill.close()
        spill.close()


def test_neighbouring_pieces_are_read_at_once_up_to_a_limit() -> None:
    spill = Spill()
    places = [spill.add(bytes(1 << 20)) for _ in range(10)]
    assert [len(data) >> 20 for data in spill.read(places)] == [4, 4, 2]
    spill.close()


def test_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spill = Spill()
    spill.add(b"x")
    assert list(tmp_path.iterdir()) == []
    spill.close()


def test_a_full_disk_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    full = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: full)
    spill = Spill()
    with pytest.raises(StoreError, match="No space left.*TMPDIR"):
        spill.add(b"x")
    spill.close()


def test_a_folder_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(StoreError, match=f"{tmp_path}/absent: No such file.*TMPDIR"):
        Spill()
