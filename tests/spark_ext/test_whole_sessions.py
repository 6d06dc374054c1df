"""Each way to switch Colonnade on gives a whole session, wherever Python runs.

`whole.py` is the job. It says what a whole session is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.spark_ext.processes import HOME
from tests.spark_ext.whole import WAYS

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROOT = Path(__file__).parents[2]
JOB = Path(__file__).with_name("whole.py")
PAGE = (ROOT / "docs" / "spark-submit.md").read_text()
JOBS = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
SUBMIT = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
STACK = re.compile(r"^\s+at [\w.$]+\(|^Traceback", re.MULTILINE)
CLOSING = re.compile(
    r"^.* RPC error during: releaseExecute\..*\n.*SESSION_CLOSED.*\n(?:\tat .*\n)*", re.MULTILINE
)
"""What Spark's own server of Connect may log where a session ends right after its last answer."""


def ran(command: Sequence[str], folder: Path, **environment: str) -> str:
    """What a command printed that nobody told which Python workers run."""
    paths = (str(ROOT), os.environ.get("PYTHONPATH"))
    known = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYSPARK_PYTHON": "",
        "PYSPARK_DRIVER_PYTHON": "",
        **environment,
    }
    known = {name: value for name, value in known.items() if value}
    done = subprocess.run(
        command,
        cwd=folder,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert not STACK.search(CLOSING.sub("", done.stdout)), done.stdout[-6000:]
    return done.stdout


def walked(launcher: Sequence[str], folder: Path, *ways: str, **environment: str) -> None:
    output = ran([*launcher, str(JOB), str(folder), *ways], folder, **environment)
    assert re.findall("whole: (.*)", output) == list(ways)


@pytest.mark.spark_compat
def test_under_spark_submit_a_session_that_runs_becomes_whole_and_so_does_the_next(
    tmp_path: Path,
) -> None:
    walked(SUBMIT, tmp_path, "enable", "session")


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("port_of_connect")
def test_a_builder_for_spark_connect_gives_a_whole_session(tmp_path: Path) -> None:
    walked([sys.executable], tmp_path, "configure", COLONNADE_TEST_REMOTE="local[2]")


@pytest.mark.spark_compat
@pytest.mark.parametrize("launcher", ["python", "spark-submit"])
@pytest.mark.parametrize("way", WAYS)
def test_each_way_gives_a_whole_session(launcher: str, way: str, tmp_path: Path) -> None:
    walked([sys.executable] if launcher == "python" else SUBMIT, tmp_path, way)


@pytest.mark.parametrize("call", ["colonnade.enable(spark)", "colonnade.session()"])
def test_the_shell_of_pyspark_gets_a_whole_session(call: str, tmp_path: Path) -> None:
    script = tmp_path / "start.py"
    lines = (
        "import colonnade, pathlib",
        "from tests.spark_ext.whole import walk",
        # The shell chooses the Python of workers, by this name, before Colonnade is asked.
        f"walk({call}, pathlib.Path({str(tmp_path)!r}), 'python3')",
        "print('whole:', 'shell')",
    )
    script.write_text("\n".join(lines))
    shell = [str(HOME / "bin" / "pyspark"), "--master", "local[2]"]
    # Without a terminal, only -i makes Python run what a shell begins with.
    started = {"PYTHONSTARTUP": str(script), "PYSPARK_DRIVER_PYTHON_OPTS": "-i"}
    assert "whole: shell" in ran(shell, tmp_path, **started)


def jobs() -> list[object]:
    """The jobs of the page. The first one and the stream are run with every push."""
    assert len(JOBS) == 3
    return [pytest.param(job, marks=[pytest.mark.long] * (job is JOBS[1])) for job in JOBS]


@pytest.mark.parametrize("job", jobs())
def test_a_job_of_the_page_runs_under_spark_submit(job: str, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(job)
    assert "rows: 3" in ran([*SUBMIT, "job.py"], tmp_path)


@pytest.mark.spark_compat
@pytest.mark.parametrize(
    "way",
    [
        "configure",
        pytest.param("session", marks=pytest.mark.long),
        pytest.param("enable", marks=pytest.mark.long),
    ],
)
def test_a_pipeline_that_was_written_for_delta_runs_from_end_to_end(
    way: str, tmp_path: Path
) -> None:
    script = Path(__file__).with_name("delta_pipeline.py")
    assert f"whole: {way}" in ran([*SUBMIT, str(script), str(tmp_path), way], tmp_path)
