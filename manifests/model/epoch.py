"""The content of a slot of the log, and the mark of a block of slots.

Reading an epoch validates it and refuses unknown operations and keys.
Spec: docs/spec/epoch-log.md
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, StringConstraints, model_validator

from colonnade.manifests import ids
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.model.schema import Model

FORMAT_VERSION = 1
"""The format version that this code writes, and the only one that it reads."""

TransactionIdText = Annotated[str, StringConstraints(pattern=f"^{ids.TRANSACTION_ID.pattern}$")]


class Epoch(Model):
    """One committed step of the log.

    `transaction` identifies the change, also when it is sent again. `previous` is the transaction
    of the previous epoch (absent for epoch 0). `base` is the epoch that the change was planned on.
    `time_ms` is in ms since 1970 UTC and grows strictly along the log. `clock_ms` is the writer's
    clock, if the date is more than a day ahead of it. `user` is whom the program `engine` worked
    for, if it knew. `metrics` count, for people, the effects of a statement.
    """

    format_version: Literal[1] = 1
    epoch: Count
    transaction: TransactionIdText
    previous: TransactionIdText | None = None
    base: Count
    time_ms: Count
    clock_ms: Count | None = None
    operation: str
    parameters: dict[str, str] = {}
    engine: str
    user: str | None = None
    metrics: dict[str, Count] | None = None
    ops: tuple[Operation, ...]

    @model_validator(mode="after")
    def _check_clock(self) -> Epoch:
        if self.clock_ms is not None and self.clock_ms >= self.time_ms:
            raise ValueError("clock_ms is before time_ms")
        return self


class EpochIdentity(Model):
    """The part of an epoch's file that identifies it."""

    model_config = ConfigDict(extra="ignore")

    transaction: TransactionIdText


class FreedBlock(Model):
    """The mark of a freed block of slots. Only its name tells readers something."""

    format_version: Literal[1] = 1
    freed: Count
