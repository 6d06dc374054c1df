"""Processes that race for the slots of a store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def race(url: str, environment: Mapping[str, str], processes: int, rounds: int) -> list[bytes]:
    """Let processes put each slot at once. Returns what the winner of each slot put first.

    Fails where a slot has no winner or two.
    """
    script = Path(__file__).with_name("processes.py")
    racers = [
        subprocess.Popen(
            [sys.executable, script, "race", url, str(racer), str(rounds)],
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for racer in range(processes)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    won: dict[int, int] = {}
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for number, racer in enumerate(racers):
        for slot in json.loads(racer.communicate(timeout=200)[0]):
            assert slot not in won
            won[slot] = number
    assert sorted(won) == list(range(rounds))
    return [str(won[slot]).encode() for slot in range(rounds)]
