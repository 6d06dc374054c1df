"""Store a checkpoint beside the commits that follow it, so that no commit waits for one.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.fold import apply_epochs
from colonnade.manifests.state.snapshot import Snapshot

_HELD = 256
"""The most epochs that are held in memory while a checkpoint is stored."""


class BackgroundCheckpoint:
    """The last checkpoint that a log has begun to store, and the epochs since. Thread-safe.

    A state that was read from a checkpoint takes less memory than the same state with all changes
    since the checkpoint before. So commits continue from the stored state once it is there.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._job: _Job | None = None

    def begin(
        self,
        state: Snapshot,
        write: Callable[[Snapshot], Snapshot],
        later: Callable[[Callable[[], None]], None],
    ) -> Snapshot:
        """Store a state by `write`, which `later` calls at any time. Returns the state.

        If commits have not yet continued from the checkpoint before, `write` is called at once:
        otherwise the changes in memory could grow without bound. `write` must not raise.
        """
        with self._lock:
            job = None if self._job else _Job(state.epoch)
            self._job = job
        if job is None:
            return write(state)

        def work() -> None:
            job.stored = write(state)

        later(work)
        return self.adopt(state, ())

    def adopt(self, state: Snapshot, epochs: Sequence[Epoch]) -> Snapshot:
        """Return the same state, based on the stored checkpoint if that is possible by now.

        `epochs` are the last epochs up to the state, without gaps. Never raises. May read tables of
        the checkpoint that are not in memory.
        """
        with self._lock:
            job = self._job
            if job is None:
                return state
            job.hold(epochs)
            if job.stored is None or job.reached != state.epoch:
                return state
            self._job = None
        try:
            return apply_epochs(job.stored, job.epochs) if job.epochs else job.stored
        except ColonnadeError:
            # The state is committed. An error here would tell the caller that it is not.
            return state


class _Job:
    """A checkpoint of an epoch, the epochs after it, and the stored state when it is there."""

    def __init__(self, epoch: int) -> None:
        self.reached = epoch
        self.epochs: list[Epoch] = []
        self.stored: Snapshot | None = None

    def hold(self, epochs: Sequence[Epoch]) -> None:
        """Hold the epochs that follow without a gap."""
        for each in epochs:
            if each.epoch == self.reached + 1 and len(self.epochs) < _HELD:
                self.epochs.append(each)
                self.reached = each.epoch
