"""A table whose writer is disturbed at the calls of its store."""

from __future__ import annotations

from collections.abc import Callable

from tests.faults import Fault, FaultyStore


class Beside(FaultyStore):
    """Does something else right before the call with the number `call`.

    What is left of `acts` then comes right before the later epochs that are put, one before each.
    """

    call = 0
    acts: tuple[Callable[[], object], ...] = ()

    def _fault_at(self, number: int, operation: str) -> Fault | None:
        later = number > self.call and operation == "put_if_absent"
        if self.acts and (number == self.call or later):
            act, *left = self.acts
            self.acts = tuple(left)
            act()
        return super()._fault_at(number, operation)
