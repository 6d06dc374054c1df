"""What a store in memory promises beside the contract of all stores (`conformance/`)."""

from __future__ import annotations

from colonnade.manifests.store.memory import MemoryStore


def test_the_given_clock_dates_every_object() -> None:
    times = iter((5, 7, 9))
    store = MemoryStore(now_ms=lambda: next(times))
    store.put("t/a", b"1", sync=True)
    with store.create("t/b", sync=False) as writer:
        writer.write(b"2")
    assert (store.modified_ms("t/a"), store.modified_ms("t/b")) == (5, 7)
    assert store.date_of_write("t/c") == 9


def test_a_listing_is_of_one_moment_whatever_is_written_meanwhile() -> None:
    store = MemoryStore()
    store.put("t/a", b"1", sync=True)
    found = store.list("t/")
    store.put("t/b", b"2", sync=True)
    store.delete("t/a")
    assert [each.name for each in found] == ["t/a"]


def test_a_written_object_does_not_change_with_the_bytes_of_its_writer() -> None:
    store, data = MemoryStore("memory:mine"), bytearray(b"12")
    store.put("t/a", memoryview(data), sync=True)
    data[0] = 0
    assert store.get("t/a") == b"12"
    assert store.locate("t/a") == "memory:mine/t/a"
