"""Run the same work on Spark Connect, on a local cluster, and on a standalone one of two workers.

And what only a cluster of two hosts does: attempt a task twice at the same time.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.processes import HOME, running, wait_for
from tests.spark_ext.speculation import ROWS, TASKS

pytestmark = pytest.mark.spark

FOLDER = Path(__file__).parent


def run(script: str, *arguments: str, log: Path) -> str:
    """Run a driver of this folder to its end; returns what it printed."""
    with running([sys.executable, str(FOLDER / script), *arguments], log) as process:
        code = process.wait(timeout=600)
    assert code == 0, log.read_text()[-8000:]
    return log.read_text()


def walk(master: str, folder: Path) -> None:
    assert "the whole road: ok" in run("road.py", master, str(folder), log=folder / "road.log")


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master with two workers, of one core each and, for Spark, on two hosts."""
    folder = tmp_path_factory.mktemp("standalone")
    launcher = str(HOME / "bin" / "spark-class")
    package = "org.apache.spark.deploy"
    ports = ["--port", "0", "--webui-port", "0"]
    with ExitStack() as stack:
        log = folder / "master.log"
        command = [launcher, f"{package}.master.Master", "--host", "127.0.0.1", *ports]
        master = stack.enter_context(running(command, log))
        url = wait_for(r"spark://127\.0\.0\.1:\d+", master, log)
        for host in ("127.0.0.2", "127.0.0.3"):
            log = folder / f"{host}.log"
            options = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / host)]
            command = [launcher, f"{package}.worker.Worker", "--host", host, *ports, *options, url]
            worker = stack.enter_context(running(command, log, SPARK_LOCAL_IP=host))
            wait_for("Successfully registered with master", worker, log)
        yield url


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("port_of_connect")
@pytest.mark.parametrize(
    "master", ["connect", pytest.param("local-cluster[2,1,1024]", marks=pytest.mark.long)]
)
def test_the_road_on(master: str, tmp_path: Path) -> None:
    walk(master, tmp_path)


@pytest.mark.long
def test_the_road_on_a_standalone_cluster_of_two_workers(standalone: str, tmp_path: Path) -> None:
    walk(standalone, tmp_path)


@pytest.mark.long
def test_a_job_that_is_submitted_to_a_standalone_cluster_gets_a_whole_session(
    standalone: str, tmp_path: Path
) -> None:
    log = tmp_path / "job.log"
    sizes = ["--conf", "spark.cores.max=2", "--conf", "spark.executor.memory=512m"]
    job = [str(FOLDER / "whole.py"), str(tmp_path), "enable", "configure"]
    command = [str(HOME / "bin" / "spark-submit"), "--master", standalone, *sizes, *job]
    with running(command, log) as process:
        code = process.wait(timeout=600)
    assert code == 0, log.read_text()[-8000:]
    assert "whole: configure" in log.read_text()


@pytest.mark.long
def test_of_two_attempts_at_a_task_only_the_rows_of_the_winner_are_visible(
    standalone: str, tmp_path: Path
) -> None:
    path, events = tmp_path / "t", tmp_path / "events"
    events.mkdir()
    run("speculation.py", standalone, str(path), str(events), log=tmp_path / "speculation.log")

    started, succeeded = first_tasks(events)
    assert started[:2] == [["original", "copy"], ["original", "copy"]]
    assert succeeded[:2] == [["copy"], ["original"]]

    table = colonnade.open(path)
    assert [entry.rows_added for entry in table.history()] == [ROWS] * 3
    rows = table.scan(["id", "attempt"]).to_arrow().sort_by("id")
    assert rows["id"].equals(pa.chunked_array([range(3 * ROWS)]))
    visible = [rows["attempt"].slice(turn * ROWS, ROWS // TASKS) for turn in range(3)]
    assert [set(attempts.to_pylist()) for attempts in visible] == [{1}, {0}, {0}]


def first_tasks(events: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Of each stage's first task, the attempts that Spark began and those that it took."""
    [log] = events.iterdir()
    began: dict[int, list[str]] = defaultdict(list)
    taken: dict[int, list[str]] = defaultdict(list)
    for event in map(json.loads, log.read_text().splitlines()):
        task = event.get("Task Info")
        if task is None or task["Index"] != 0:
            continue
        attempt = "copy" if task["Speculative"] else "original"
        if event["Event"] == "SparkListenerTaskStart":
            began[event["Stage ID"]].append(attempt)
        elif event.get("Task End Reason") == {"Reason": "Success"}:
            taken[event["Stage ID"]].append(attempt)
    return [began[stage] for stage in sorted(began)], [taken[stage] for stage in sorted(taken)]
