"""The newest state that a commit has followed the log to.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections import deque

from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.fold import apply_epochs
from colonnade.manifests.state.snapshot import Snapshot


class FollowedHead:
    """A state, and the epochs after it, which are folded together when the state is asked for.

    Folding them together takes one copy of the state. At most `most` epochs wait for that, and
    `epochs` are the last ones, at most `most`, up to the head without gaps.
    """

    def __init__(self, base: Snapshot, most: int) -> None:
        self.epochs: deque[Epoch] = deque(maxlen=most)
        self._most = most
        self._state = base
        self._waiting: list[Epoch] = []

    @property
    def next_slot(self) -> int:
        """The number of the slot after the head."""
        return self._state.epoch + len(self._waiting) + 1

    @property
    def state(self) -> Snapshot:
        """The state at the head.

        Raises CorruptionError if its tables cannot be read, because a vacuum has removed them.
        """
        if self._waiting:
            try:
                self._state = apply_epochs(self._state, self._waiting)
            except NotFoundError as error:
                raise CorruptionError(error.message) from error
            self._waiting = []
        return self._state

    def add(self, epoch: Epoch) -> None:
        """Follow the next epoch. Raises as `state` if too many wait.

        The epoch itself waits. So the caller can compare it with a change, and see an own epoch or
        the end of the log, even where the state after it cannot be made.
        """
        if len(self._waiting) >= self._most:
            _ = self.state
        self._waiting.append(epoch)
        self.epochs.append(epoch)

    def put(self, epoch: Epoch, after: Snapshot) -> None:
        """Follow an own epoch, whose state after it is known."""
        self._state, self._waiting = after, []
        self.epochs.append(epoch)
