"""The schedules to copy: each runs a command that exists, on a database, and does what it says."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
import yaml

import colonnade
from tests.cli.runner import Ran, run_command

SCHEDULES = Path(__file__).parents[2] / "examples" / "schedules"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    database = colonnade.create_database(tmp_path / "lake")
    table = database.create_table("trips", pa.schema([("id", pa.int64())]))
    for number in range(10):
        table.append(pa.table({"id": [number]}))
    return tmp_path / "lake"


def run_it(command: list[str], lake: Path) -> Ran:
    """Run a command of an example on `lake`; what it writes goes beside that."""
    name, *arguments = command
    assert name == "colonnade"
    places = {"/data/lake": lake, "/var/www/html/lake.html": lake.parent / "lake.html"}
    return run_command(*(places.get(each, each) for each in arguments))


def check_commands(commands: list[list[str]], lake: Path) -> None:
    for command in commands:
        ran = run_it(command, lake)
        assert ran.code == 0, ran.err
    assert colonnade.open_database(lake)._snapshot.epoch > 11, "nothing was compacted"


def test_the_lines_of_the_crontab_run(lake: Path) -> None:
    lines = (SCHEDULES / "crontab").read_text().splitlines()
    jobs = [line for line in lines if not re.match(r"#|[A-Z]+=|$", line)]
    commands = []
    for job in jobs:
        *times, command = job.split(maxsplit=5)
        assert all(re.fullmatch(r"[\d*/,-]+", each) for each in times)
        words = shlex.split(command.partition(" >> ")[0])
        commands.append(words[words.index("colonnade") :])
    assert [command[1] for command in commands] == ["maintain", "report"]
    check_commands(commands, lake)
    assert (lake.parent / "lake.html").exists()


def test_the_commands_of_the_cron_job_run(lake: Path) -> None:
    job: Any = yaml.safe_load((SCHEDULES / "kubernetes.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    assert len(job["spec"]["schedule"].split()) == 5
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # a Job takes only this or OnFailure
    (container,) = pod["containers"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert container["command"][2] == container["volumeMounts"][0]["mountPath"]
    check_commands([container["command"]], lake)


class RecordedDag:
    """Stands for Airflow's DAG: takes what it takes, and is a context."""

    def __init__(
        self,
        dag_id: str,
        *,
        schedule: object,
        start_date: object,
        catchup: bool,
        max_active_runs: int = 16,
    ) -> None:
        self.dag_id, self.catchup = dag_id, catchup

    def __enter__(self) -> RecordedDag:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def test_the_tasks_of_the_dags_run(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Airflow itself, a hundred packages, is not installed for tests; with 3.3.2 the file imports.
    commands: list[list[str]] = []

    def bash_operator(
        *, task_id: str, bash_command: str, retries: int = 0, execution_timeout: object = None
    ) -> None:
        commands.append(shlex.split(bash_command))

    sdk, bash = ModuleType("airflow.sdk"), ModuleType("bash")
    sdk.DAG, bash.BashOperator = RecordedDag, bash_operator  # type: ignore[attr-defined]
    for name in ("airflow", "airflow.providers", "airflow.providers.standard"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "airflow.providers.standard.operators", ModuleType("o"))
    monkeypatch.setitem(sys.modules, "airflow.providers.standard.operators.bash", bash)
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    spec = importlib.util.spec_from_file_location("dags", SCHEDULES / "airflow_dag.py")
    assert spec is not None
    assert spec.loader is not None
    dags = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dags)
    assert [dags.maintain_dag.dag_id, dags.report_dag.dag_id] == [
        "colonnade_maintain",
        "colonnade_report",
    ]
    assert not dags.maintain_dag.catchup
    check_commands(commands, lake)
