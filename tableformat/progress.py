"""How far long work is: the work opens a step and says what it has done, and a listener hears it.

    with step("verify", None, "bytes", total) as advance:
        advance(1000)

Users choose the listener by `colonnade.progress`. Without one, a step costs nothing.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.public import public
from colonnade.tableformat import bars

Unit = Literal["rows", "bytes", "RowSets"]

Advance = Callable[[int], None]
"""Is told how many units were done since the call before; threads may call it."""

_log = logging.getLogger(__name__)


@public
@dataclass(frozen=True, slots=True)
class Progress:
    """How far one step of some work is, as a callback of `progress` hears it.

    `step` says what is done, such as "append", "upsert", "find keys", "read", "compact" or
    "verify", and `table` names the table, if it is one. `done` and `total` count rows, RowSets or
    their stored bytes, as `unit` says; `total` is None if it is not known before. The last call
    for a step has `ended`. Its `done` is what was done, and equals `total` unless an error ended
    the step.
    """

    step: str
    table: str | None
    unit: Unit
    done: int
    total: int | None
    ended: bool = False

    def __str__(self) -> str:
        return f"{self.title}: {bars.amount_text(self.unit, self.done, self.total)}"

    @property
    def title(self) -> str:
        """The step with the name of its table."""
        return self.step if self.table is None else f"{self.step} {self.table}"


Callback = Callable[[Progress], object]


@public
@contextmanager
def progress(show: bool | Callback = True) -> Iterator[None]:
    """Show the progress of work during a block, or pass it to a callback.

        with colonnade.progress():
            table.append(rows)

    True shows a bar: in a notebook, or on standard error if that is a terminal and rich or tqdm is
    installed. Elsewhere nothing is printed. False shows none. A callback gets a `Progress` at the
    begin of a step, whenever something is done, and at its end. It is called by the thread that
    works, for one step never by two at once, and holds the work up until it returns. If it raises
    an Exception, that is logged as a warning with its traceback, the callback hears no more of the
    step, and the work goes on: no commit depends on it. A KeyboardInterrupt ends the work.

    Without this, an interactive session of Python shows a bar for work that takes longer than a
    second, and a program shows none. The variable COLONNADE_PROGRESS=off turns all bars off. Holds
    for this thread or asyncio task; a thread that you start calls it itself. Raises
    InvalidInputError for anything else than a bool or a callable.
    """
    if not isinstance(show, bool) and not callable(show):
        raise InvalidInputError(
            f"progress takes True, False or a callback that gets a Progress, not {show!r:.100}."
        )
    listener = (_asked if show else _silent) if isinstance(show, bool) else lambda: show
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def step(name: str, table: str | None, unit: Unit, total: int | None = None) -> Iterator[Advance]:
    """Tell the listener of this thread how far the block is; yields what the block calls for that.

    The end is told when the block ends, so the block ends before the commit of what it does.
    """
    hear = _listener()
    if hear is None:
        yield nothing
        return
    running = _Step(hear, Progress(name, table, unit, 0, total))
    try:
        yield running.advance
        running.complete()
    finally:
        running.end()


def _listener() -> Callback | None:
    """Return what hears of the step that begins, or None."""
    try:
        return _LISTENER.get()()
    except Exception:  # such as that of a standard error which is closed
        _log.warning("Progress cannot be shown; the work goes on.", exc_info=True)
        return None


class _Step:
    """One step, of which its listener is told by one thread at a time."""

    def __init__(self, hear: Callback, begun: Progress) -> None:
        self._hear: Callback | None = hear
        self._now = begun
        self._lock = Lock()
        self._tell(begun)

    def advance(self, amount: int) -> None:
        with self._lock:
            self._tell(replace(self._now, done=self._now.done + amount))

    def complete(self) -> None:
        """Say that everything was done, which may be less or more than was expected."""
        self._now = replace(self._now, total=self._now.done)

    def end(self) -> None:
        with self._lock:
            self._tell(replace(self._now, ended=True))

    def _tell(self, now: Progress) -> None:
        self._now = now
        if self._hear is None:
            return
        try:
            self._hear(now)
        except Exception:
            self._hear = None
            _log.warning("The callback of progress has failed; the work goes on.", exc_info=True)


class _Display:
    """Shows one step as a bar, once it has taken some seconds. A process shows one bar at a time.

    Of a second step, which another thread runs meanwhile, nothing is shown.
    """

    _shown = Lock()

    def __init__(self, patience: float) -> None:
        self._begun = time.monotonic()
        self._next = self._begun + patience
        self._bar: bars.Bar | None = None

    def __call__(self, now: Progress) -> None:
        if now.ended:
            self._close()
            return
        moment = time.monotonic()
        if moment < self._next:
            return
        self._next = moment + bars.SECONDS
        try:
            if self._bar is None and self._shown.acquire(blocking=False):
                self._open(now)
            if self._bar is not None:
                self._bar.move(now.done, now.total, moment - self._begun)
        except Exception:
            self._close()
            raise

    def _open(self, now: Progress) -> None:
        try:
            self._bar = bars.open_bar(now.title, now.unit, now.total)
        finally:
            if self._bar is None:
                self._shown.release()

    def _close(self) -> None:
        if self._bar is not None:
            bar, self._bar = self._bar, None
            try:
                bar.close()
            finally:
                self._shown.release()


def _asked() -> Callback | None:
    return _Display(0.0) if _may_show() else None


def _unasked() -> Callback | None:
    """Return what shows a step where a person types the calls, and waits for them."""
    # Python sets `ps1` in an interactive session, and IPython does in a notebook, too.
    if not hasattr(sys, "ps1") or "CI" in os.environ or not _may_show():
        return None
    return _Display(1.0)


def _may_show() -> bool:
    return bars.are_seen() and os.environ.get("COLONNADE_PROGRESS", "").lower() != "off"


def _silent() -> None:
    return None


def nothing(amount: int) -> None:
    """Report to no listener."""


_LISTENER: ContextVar[Callable[[], Callback | None]] = ContextVar("_LISTENER", default=_unasked)
"""Returns what hears of a step that begins, or None."""
