"""Profile Spark work: sample its tasks, and the driver beside them."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

WARM_UPS = 5
SHOWN = 15
DRIVER_INTERVAL = 0.005
PHASES = {
    "ask Colonnade's planner": "colonnade.planner.",
    "Colonnade beside that": "colonnade.",
    "generate and compile code": "expressions.codegen.CodeGenerator",
    "wait for tasks": "SparkContext.runJob",
    "wait for stages": "adaptive.AdaptiveSparkPlanExec.",
    "analyse and optimise": "catalyst.rules.RuleExecutor",
    "choose the physical plan": "planning.QueryPlanner",
    "parse": "catalyst.parser.",
}
FRAME = re.compile(r"^\s+([\w.$/]+)\(.*line: \d+", re.MULTILINE)


def profile_of(spark: SparkSession, work: Callable[[], object], repeats: int) -> str:
    """Call `work` some times to warm up and `repeats` times with sampling; report where time went.

    Requires a local driver whose JDK has `jcmd` and `jfr`. The flight recorder samples tasks only
    while they run on a processor; the driver is sampled also while it waits.
    """
    for _ in range(WARM_UPS):
        work()
    jvm: Any = spark.sparkContext._jvm
    pid = str(jvm.java.lang.ProcessHandle.current().pid())
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "work.jfr"
        _jcmd(pid, "JFR.start", "name=work", "settings=profile")
        begin = time.perf_counter()
        with _Driver(jvm) as driver:
            for _ in range(repeats):
                work()
        each = (time.perf_counter() - begin) / repeats
        _jcmd(pid, "JFR.stop", "name=work", f"filename={recording}")
        stacks = _task_stacks(recording)
    return "\n".join(
        [
            f"{each * 1e3:.1f} ms each, {repeats} times, slowed a little by the watching",
            *_shares("tasks: where they were", (stack[0] for stack in stacks), len(stacks)),
            *_shares("tasks: in Colonnade's methods and below", _ours(stacks), len(stacks)),
            *_shares("driver: in Colonnade's methods and below", _ours(driver.stacks),
                     len(driver.stacks)),
            *_shares("driver: what it did", map(_phase, driver.stacks), len(driver.stacks)),
        ]
    )  # fmt: skip


class _Driver:
    """Samples, from another thread, the thread of the JVM that serves this Python thread."""

    def __init__(self, jvm: Any) -> None:
        self.stacks: list[list[str]] = []
        self._jvm = jvm
        self._id = jvm.java.lang.Thread.currentThread().getId()
        self._over = threading.Event()
        self._watcher = ThreadPoolExecutor(1)

    def __enter__(self) -> _Driver:
        self._watched = self._watcher.submit(self._watch)
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._watcher.shutdown()
        self._watched.result()

    def _watch(self) -> None:
        # Spark's helper returns a stack as one text; an array would need a call for each frame.
        utils = self._jvm.org.apache.spark.util.Utils
        while not self._over.wait(DRIVER_INTERVAL):
            trace = utils.getThreadDumpForThread(self._id).get().stackTrace().toString()
            frames = (frame.split("(")[0].strip() for frame in trace.splitlines())
            self.stacks.append([frame.rsplit("/", 1)[-1] for frame in frames])


def _jcmd(pid: str, *command: str) -> None:
    subprocess.run(["jcmd", pid, *command], check=True, stdout=subprocess.DEVNULL)


def _task_stacks(recording: Path) -> list[list[str]]:
    """Return the methods, innermost first, of each sample of a thread that runs tasks."""
    events = "jdk.ExecutionSample,jdk.NativeMethodSample"
    command = ["jfr", "print", "--events", events, "--stack-depth", "64", str(recording)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    samples = (each for each in text.split("\n\n") if 'sampledThread = "Executor task' in each)
    stacks = (FRAME.findall(each) for each in samples)
    return [stack for stack in stacks if stack]


def _ours(stacks: Iterable[list[str]]) -> Iterable[str]:
    """Yield each method of Colonnade at most once for each stack."""
    return (m for stack in stacks for m in dict.fromkeys(stack) if m.startswith("colonnade."))


def _phase(stack: list[str]) -> str:
    """Return the phase of a stack, by its innermost frame that belongs to a known phase."""
    for method in stack:
        for text, part in PHASES.items():
            if part in method:
                return text
    return "else: Spark's calls from Python, file listing, …"


def _shares(title: str, methods: Iterable[str], samples: int) -> list[str]:
    common = Counter(methods).most_common(SHOWN)
    return [
        f"\n{title} ({samples} samples)",
        *(f"  {100 * count / samples:5.1f} %  {method}" for method, count in common),
    ]
