"""What a writer wants committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from manifests.entries import Operation


@dataclass(frozen=True, slots=True)
class Change:
    """Operations that become one epoch, or none of them does.

    `transaction` is made once (`ids.new_transaction_id`) and repeated whenever the change is sent
    again, also by another process: that is how it lands once. `operation` and `parameters` say to
    people what was done. A change that replaces a table's rows carries a `DropRowSet` for it, with
    no ranges when there was nothing to drop: that is what tells it from an append.
    """

    transaction: str
    operation: str
    ops: tuple[Operation, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
