"""An object is invisible until its last request, then whole, and never another writer's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, StoreError
from colonnade.manifests.store.bucket.upload import UploadWriter
from tests.manifests.store.bucket.fakes import FakeBucket, FakeUpload, failure

KEY, PLACE = "db/a", "s3://bucket/db/a"


def opened(*, ends_with_part: bool = False) -> tuple[FakeBucket, FakeUpload, UploadWriter]:
    bucket = FakeBucket()
    upload = FakeUpload(bucket, KEY, ends_with_part=ends_with_part)
    return bucket, upload, UploadWriter(upload, PLACE)


@given(st.lists(st.binary(max_size=9), max_size=6), st.booleans())
def test_the_object_has_the_written_bytes_in_parts_of_the_size_that_was_asked_for(
    pieces: list[bytes], ends_with_part: bool
) -> None:
    bucket, upload, writer = opened(ends_with_part=ends_with_part)
    whole = b"".join(pieces)
    with writer:
        for piece in pieces:
            writer.write(piece)
            assert bucket.objects == {}
    assert bucket.objects == {KEY: whole}
    if len(whole) <= 4:
        assert upload.calls == ["put"]
        return
    for number, (offset, body) in upload.parts.items():
        assert whole[offset : offset + len(body)] == body
        assert offset == 4 * number
    sizes = {len(body) for _, body in upload.parts.values()}
    assert sizes <= ({4} if ends_with_part else {4, len(whole) % 4 or 4})


@pytest.mark.parametrize("size", [3, 20])
def test_an_aborted_or_interrupted_object_is_never_there(size: int) -> None:
    bucket, upload, writer = opened()
    writer.write(b"x" * size)
    writer.__exit__(ZeroDivisionError)
    assert bucket.objects == {}
    assert ("end" in upload.calls) == (size > 4)
    with pytest.raises(InvalidInputError, match="no longer being written"):
        writer.write(b"x")


@pytest.mark.parametrize(("size", "request_name"), [(3, "put"), (20, "finish")])
def test_an_answer_that_was_lost_after_the_object_got_its_name_is_no_failure(
    size: int, request_name: str
) -> None:
    bucket, upload, writer = opened()
    upload.failing[request_name] = [failure(None, arrived=True, passing=True)]
    with writer:
        writer.write(b"x" * size)
    assert bucket.objects == {KEY: b"x" * size}
    assert upload.calls[-1] == "is_own"


@pytest.mark.parametrize("size", [3, 20])
def test_a_name_that_another_writer_took_is_never_replaced(size: int) -> None:
    bucket, _, writer = opened()
    bucket.objects[KEY] = b"theirs"
    with pytest.raises(AlreadyExistsError, match="s3://bucket/db/a exists already"), writer:
        writer.write(b"x" * size)
    assert bucket.objects == {KEY: b"theirs"}


@pytest.mark.parametrize("request_name", ["begin", "send", "finish"])
def test_a_refused_request_is_one_error_and_leaves_no_upload(request_name: str) -> None:
    bucket, upload, writer = opened()
    upload.failing[request_name] = [failure(403)]
    with pytest.raises(StoreError, match="s3://bucket/db/a could not be written"), writer:
        writer.write(b"x" * 40)
    assert bucket.objects == {}
    assert ("end" in upload.calls) == (request_name != "begin")


def test_a_request_that_may_pass_is_repeated() -> None:
    bucket, upload, writer = opened()
    for request_name in ("begin", "send", "finish"):
        upload.failing[request_name] = [failure(503, passing=True)]
    with writer:
        writer.write(b"x" * 20)
    assert bucket.objects == {KEY: b"x" * 20}
