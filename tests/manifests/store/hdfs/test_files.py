"""A file of HDFS is written under another name, and its rename never replaces by mistake."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.hdfs.files import HdfsFiles, unfinished_key
from tests.manifests.store.bucket.fakes import failure


def asking(answer: Any) -> tuple[Mock, HdfsFiles]:
    """The steps of a write with a client that answers every request, or fails."""
    client = Mock()
    client.ask = Mock(side_effect=answer if isinstance(answer, Exception) else [answer])
    return client, HdfsFiles(client)


@pytest.mark.parametrize("key", ["db/t/a.bin", "a.bin"])
def test_an_unfinished_name_is_beside_its_object_and_new_each_time(key: str) -> None:
    one, other = unfinished_key(key), unfinished_key(key)
    assert one != other
    assert one.rpartition("/")[0] == key.rpartition("/")[0]
    assert finished_name(one) == key


def test_a_rename_replaces_only_if_it_is_told_to() -> None:
    for replacing, option in ((True, "OVERWRITE"), (False, "NONE")):
        client, files = asking({})
        files.rename("t", "db/a", replacing=replacing)
        wanted = client.ask.call_args.args[3]
        assert wanted == {"op": "RENAME", "destination": "/db/a", "renameoptions": option}


def test_a_server_that_ignores_the_option_of_a_rename_is_found_out() -> None:
    _, files = asking({"boolean": True})
    with pytest.raises(Failure) as found:
        files.rename("t", "db/a", replacing=False)
    assert found.value.arrived
    assert not found.value.passing


def test_an_absent_file_counts_as_removed_and_any_other_failure_is_raised() -> None:
    asking(failure(404, absent=True))[1].remove("a")
    _, files = asking(failure(403))
    with pytest.raises(Failure):
        files.remove("a")
    asking(failure(403))[1].discard("a")
