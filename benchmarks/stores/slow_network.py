"""A network between this machine and itself, on which each answer takes some milliseconds more."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

_CHUNK = 1 << 18
_CHUNKS = 256
"""The most chunks of a connection that are on their way: 64 MiB."""


class SlowNetwork:
    """Passes connections on to a port of this machine, in a process of its own.

    The bytes of an answer arrive `delay_s` seconds later. So a request takes that much longer, as
    behind a network with this round trip. The rate of a long answer is not limited.
    """

    def __init__(self, port: int, delay_s: float) -> None:
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        self._delay: Any = context.Value("d", delay_s, lock=False)
        arguments = (port, self._delay, theirs)
        self._process = context.Process(target=_run, args=arguments, daemon=True)
        self._process.start()
        self.url = f"http://127.0.0.1:{mine.recv()}"

    @contextmanager
    def fast(self) -> Iterator[None]:
        """A block without the delay, for work that is not measured."""
        before, self._delay.value = self._delay.value, 0.0
        try:
            yield
        finally:
            self._delay.value = before

    def stop(self) -> None:
        """Close all connections."""
        self._process.terminate()
        self._process.join()


def _run(port: int, delay: Any, ready: Connection) -> None:
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(port, delay, ready))


async def _serve(port: int, delay: Any, ready: Connection) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, requests = await asyncio.open_connection("127.0.0.1", port, limit=_CHUNK)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass(reader, requests, None), _pass(answers, writer, delay))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=_CHUNK, backlog=1024)
    ready.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: Any) -> None:
    """Pass bytes on until their end, each chunk `delay` seconds after it came."""
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_CHUNKS)
    sender = asyncio.create_task(_send(waiting, writer))
    data = b"begin"
    while data and not sender.done():
        try:
            data = await reader.read(_CHUNK)
        except OSError:
            data = b""
        await waiting.put((time.monotonic() + (delay.value if delay else 0.0), data))
    await sender


async def _send(waiting: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
    """Write each chunk at its time, up to an empty one, which ends the connection."""
    with suppress(OSError):
        while True:
            due, data = await waiting.get()
            if (left := due - time.monotonic()) > 0:
                await asyncio.sleep(left)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    writer.close()
