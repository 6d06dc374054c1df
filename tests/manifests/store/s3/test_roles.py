"""A store takes on a role with the credentials that it is given."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.store import PutOutcome, open_store
from tests.setup.minio import Minio


def role(minio: Minio, **more: Any) -> dict[str, Any]:
    return {"role_arn": "arn:aws:iam::1:role/writer", "endpoint_url": minio.url, **more}


def test_a_store_reads_and_writes_with_the_credentials_of_a_role(minio: Minio) -> None:
    options = minio.options(assume_role=role(minio, duration_s=900))
    store = open_store(f"s3://{minio.new_bucket()}/lake", options)
    assert store.put_if_absent("a/b", b"bytes") is PutOutcome.CREATED
    assert store.get("a/b") == b"bytes"


def test_a_role_that_is_refused_is_an_error_without_a_secret(minio: Minio) -> None:
    options = minio.options(assume_role=role(minio), secret="MARKED", patience=1)
    store = open_store(f"s3://{minio.new_bucket()}/lake", options)
    with pytest.raises(StoreError, match="could not be read") as refused:
        store.get("a/b")
    assert "MARKED" not in str(refused.value)


def test_a_policy_that_is_not_json_is_refused_with_the_name_of_the_option(minio: Minio) -> None:
    options = minio.options(assume_role=role(minio, policy="MARKED"))
    with pytest.raises(InvalidInputError, match="assume_role") as refused:
        open_store("s3://lake/t", options).get("a/b")
    assert "MARKED" not in str(refused.value)


@pytest.mark.parametrize("given", [{"session_name": "x"}, {"role_arn": "a", "unknown": 1}])
def test_an_option_that_names_no_role_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="assume_role of s3://lake/t needs role_arn"):
        open_store("s3://lake/t", {"assume_role": given})
