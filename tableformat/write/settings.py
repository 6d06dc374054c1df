"""Settings that a user may choose for one write."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from colonnade.manifests.engine import USER_METADATA
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.lifetimes import lifetime_ms
from colonnade.manifests.model.operations import Operation, Txn
from colonnade.manifests.model.schema import InputModel
from colonnade.manifests.public import public

OnDuplicate = Literal["error", "ignore", "merge"]
"""What a plain write does with a row whose key a live row of the table has, or an earlier new row.

`error` refuses the write, `ignore` leaves the row out, `merge` makes one row of both.
"""


@public
class WriteSettings(InputModel):
    """Settings for the files of one write.

    With `lease_hours`, vacuum keeps what the write needs for that time, whatever the retention.
    This is meant for a write that may take longer than the retention. It costs one epoch before the
    first file. `on_duplicate` replaces the property `onDuplicate` of a table with a primary key.
    `ttl`, such as "1 hour", says when new rows expire that do not state it themselves: the column
    that the property `ttl.expires` names gets that time.
    """

    target_bytes: Annotated[int, Field(ge=1)] = 128 * 2**20
    max_records: Annotated[int, Field(ge=1)] | None = None
    sync: bool = True
    lease_hours: Annotated[float, Field(gt=0, le=8760)] | None = None
    on_duplicate: OnDuplicate | None = None
    ttl: str | None = None

    @field_validator("ttl")
    @classmethod
    def _check_ttl(cls, ttl: str | None) -> str | None:
        if ttl is not None:
            lifetime_ms(ttl, "Option ttl")
        return ttl


@public
class CommitSettings(InputModel):
    """Settings for one commit.

    `batch` is (application, version), with a version that grows: a batch lands once, however often
    it is sent. With `expect_epoch`, the commit fails unless the database is at that epoch.
    `metadata` is a text for the history.
    """

    batch: tuple[Annotated[str, Field(min_length=1, max_length=255)], Count] | None = None
    expect_epoch: Count | None = None
    metadata: str | None = None

    def _operations(self, table: str) -> tuple[Operation, ...]:
        """Return the operations that the commit writes besides those of the rows."""
        if self.batch is None:
            return ()
        return (Txn(table=table, app=self.batch[0], version=self.batch[1]),)

    def _parameters(self) -> dict[str, str]:
        """Return the parameters that history shows."""
        return {} if self.metadata is None else {USER_METADATA: self.metadata}


def check_settings(
    settings: WriteSettings | None,
    commit: CommitSettings | None,
    *,
    may_lease: bool = False,
    may_expire: bool = True,
    may_choose: bool = True,
) -> None:
    """Raise InvalidInputError for settings of another type, or that a statement does not have."""
    if settings is not None and not isinstance(settings, WriteSettings):
        raise InvalidInputError(f"settings must be colonnade.WriteSettings, not {settings!r}.")
    if settings is not None and settings.lease_hours is not None and not may_lease:
        raise InvalidInputError(
            "lease_hours works only for appending rows and overwriting a whole table; leave it out."
        )
    if settings is not None and settings.ttl is not None and not may_expire:
        raise InvalidInputError(
            "Option ttl is for new rows; set the column that the property 'ttl.expires' names."
        )
    if settings is not None and settings.on_duplicate is not None and not may_choose:
        raise InvalidInputError(
            "on_duplicate works only for appending and overwriting rows; leave it out."
        )
    if commit is not None and not isinstance(commit, CommitSettings):
        raise InvalidInputError(f"commit must be colonnade.CommitSettings, not {commit!r}.")
