"""What the requests of every kind of bucket promise, tried on one bucket."""

from __future__ import annotations

import pytest

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.requests import BucketRequests


def check_requests(bucket: BucketRequests) -> None:
    """Require that a bucket tells absent bytes from an absent object, and a taken name."""
    bucket.put("t/a", b"0123456789", if_absent=True)
    assert bucket.read_range("t/a", 7, 3) == b"789"
    assert bucket.read_range("t/a", 7, 4) is None
    assert bucket.read_range("t/a", 10, 1) is None
    assert bucket.head("t/a").size == 10
    for absent in (lambda: bucket.head("t/b"), lambda: bucket.read_range("t/b", 0, 1)):
        with pytest.raises(Failure) as failed:
            absent()
        assert failed.value.absent
    with pytest.raises(Failure) as taken:
        bucket.put("t/a", b"other", if_absent=True)
    assert taken.value.status == 412
    bucket.remove("t/a")
    bucket.remove("t/a")
    assert not [each for each in bucket.page("t/", None).objects if each.name == "t/a"]
