"""A turn among the writers of a log: the default, for stores that cannot order them.

`local/turns.py` and `memory_turns.py` order the writers of a machine and of a process.

Spec: docs/spec/store.md#turns
"""

from __future__ import annotations


class Turn:
    """A turn among the writers of a machine or process that put objects into the same folder.

    A turn only orders waiting writers. A writer without the turn may put objects too. This class,
    for stores without an order, is always free. As a context manager, a turn is given back at the
    end of the block.
    """

    def take(self, wait_s: float) -> bool:
        """Wait for the turn, at most `wait_s` seconds; returns whether the caller has it."""
        del wait_s
        return True

    def give_back(self) -> None:
        """Give the turn to the next writer, or stop waiting for it. Never raises."""

    def give_up(self) -> None:
        """Stop waiting, because another writer has the turn for too long. Never raises.

        Later turns of this process do not wait until the turn is free again.
        """

    def may_exist(self, name: str) -> bool:
        """Return whether a concurrent writer may have put an object since a look found it absent.

        A wrong False costs the caller a lost slot, and does no other harm.
        """
        del name
        return False

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *error: object) -> None:
        self.give_back()
