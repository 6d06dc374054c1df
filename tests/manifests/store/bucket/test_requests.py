"""The folders of a bucket without a request for folders are found in the keys of its objects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.manifests.store.bucket.fakes import FakeBucket

KEYS = st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=3).map("/".join)


@given(st.sets(KEYS), st.sampled_from(("", "a/", "a/b/")))
def test_pages_of_folders_name_exactly_the_folders_directly_below(
    keys: set[str], prefix: str
) -> None:
    bucket = FakeBucket()
    bucket.objects = dict.fromkeys(keys, b"x")
    found, after, pages = set[str](), None, 0
    while True:
        names, after = bucket.folders(prefix, after)
        found.update(names)
        pages += 1
        if after is None:
            break
    below = [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]
    assert found == {key.partition("/")[0] for key in below if "/" in key}
    assert pages == len(bucket.requests)
