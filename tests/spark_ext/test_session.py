"""Switching Colonnade on in a session, and what a session says when its planner has trouble."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import colonnade
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.jar import JAR
from colonnade.spark_ext.java.build import build, hash_in
from colonnade.spark_ext.supported import is_supported

ROAD = Path(__file__).with_name("session_road.py")


def doctored(jar: Path, old: str, new: str) -> Path:
    """A copy of the jar at `jar` in whose manifest `old` is replaced."""
    with zipfile.ZipFile(JAR) as source, zipfile.ZipFile(jar, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "META-INF/MANIFEST.MF":
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            target.writestr(name, content)
    return jar


def with_other_version(jar: Path) -> Path:
    return doctored(jar, f"Version: {VERSION}", "Version: 9.9.9")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("enable", marks=pytest.mark.spark),
        pytest.param("connect", marks=[pytest.mark.spark, pytest.mark.long]),
        pytest.param(
            "session", marks=[pytest.mark.spark, pytest.mark.spark_compat, pytest.mark.long]
        ),
    ],
)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happened on the road of one kind."""
    return {**walked(request.param, tmp_path_factory.mktemp("road")), "kind": request.param}


def walked(kind: str, folder: Path) -> dict[str, Any]:
    """What `session_road.py` saw, in a process that is over."""
    with_other_version(folder / "doctored.jar")
    (folder / "logs").mkdir()
    done = subprocess.run(
        [sys.executable, str(ROAD), kind, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        cwd=folder,
        env={**os.environ, "SPARK_LOG_DIR": str(folder / "logs")},
    )
    assert done.returncode == 0, done.stdout[-8000:]
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return seen


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("3.5.9", False),
        ("4.0.5", False),
        ("4.0.0-amzn-1", False),
        ("4.1.4", True),
        ("4.3.0.dev1", True),
        ("10.0.0", True),
        ("unknown", False),
    ],
)
def test_spark_is_supported_from_a_version_on(version: str, supported: bool) -> None:
    assert is_supported(version) is supported


def test_a_server_that_is_too_old_is_named_before_anything_is_asked_of_it() -> None:
    server: Any = SimpleNamespace(version="4.0.5")
    with pytest.raises(InvalidInputError, match=r"4\.1 or newer, but this session runs Spark 4\.0"):
        colonnade.enable(server)


def test_before_it_is_enabled_the_source_is_the_one_in_python(seen: Any) -> None:
    if seen["kind"] != "session":
        assert seen["before"]["source"] == "Python"
        assert "colonnade.enable(spark)" in seen["before"]["reason"]


def test_one_call_gives_the_session_jar_and_planner(seen: Any) -> None:
    found = seen["enabled"]
    assert (found["source"], found["jar_version"], found["problem"]) == ("Java", VERSION, None)
    assert found["planner_python"] == sys.executable


def test_the_diagnosis_names_all_that_a_report_needs(seen: Any) -> None:
    found = seen["enabled"]
    for part in ("Java", VERSION, sys.executable, str(found["planner_pid"]), found["planner_log"]):
        assert part in seen["text"]


def test_a_session_that_was_made_before_the_jar_was_there_gets_the_extension(seen: Any) -> None:
    assert seen["merged"] == ["id", "miles"]
    assert seen["last"]["missing"] == []


def test_enabling_twice_does_no_harm(seen: Any) -> None:
    assert seen["again"] == ""


def test_the_session_is_the_one_that_runs(seen: Any) -> None:
    assert seen["running"]


@pytest.mark.parametrize("moment", ["between", "meanwhile"])
def test_a_planner_that_was_killed_is_replaced_unnoticed(seen: Any, moment: str) -> None:
    after = seen[moment]["after"]
    assert after["problem"] is None
    assert after["planner_pid"] != seen[moment]["killed"]


def test_a_query_does_not_notice_that_its_planner_was_killed(seen: Any) -> None:
    assert seen["meanwhile"]["waited"]
    assert seen["meanwhile"]["count"] == [3]


def test_rows_are_changed_with_columns_on_classic_spark_and_connect(seen: Any) -> None:
    # Of 1, 2, 3 the first was deleted, 2 became 20, which matched and went; 21 came as 22.
    assert seen["changed"] == [[3, 22], [1, 0, 0], [0, 1, 0], [1, 0, 1]]


def test_a_refusal_of_the_planner_is_an_analysis_exception_of_one_sentence(seen: Any) -> None:
    first, *rest = seen["refusal"]["text"].splitlines()
    assert seen["refusal"]["condition"] == "COLONNADE_NOT_FOUND"
    assert re.fullmatch(r"\[COLONNADE_NOT_FOUND\] .*nowhere.*\.", first)
    if seen["kind"] != "connect":  # which shows the server's stack for errors of Spark's own, too
        assert rest == []


@pytest.mark.parametrize(
    ("case", "parts"),
    [
        ("missing", ["no-such-python (from spark.colonnade.python)", "No such file"]),
        ("no package", ['it ended before it said hello with "No module named orjson"']),
        ("hangs", ["it did not answer within 1 s"]),
        ("other version", [f"version {VERSION}", "version 9.9.9"]),
        ("babbles", ["The planner ended 3 times while it ran describe"]),
        ("seconds", ["startSeconds must be a whole number of seconds, not 'soon'"]),
        ("dies", ['The planner ended 3 times while it ran describe with "mute"']),
    ],
)
def test_a_problem_with_the_planner_is_one_sentence(seen: Any, case: str, parts: list[str]) -> None:
    text = seen["problems"][case]
    assert re.match(r"\[COLONNADE_[A-Z_]+\] [^\n]*\.$", text), text
    for part in parts:
        assert part in text


def test_output_of_a_starting_python_is_not_a_reply(seen: Any) -> None:
    assert seen["problems"]["chatty"] is None


def test_enabling_says_at_once_which_python_could_not_start(seen: Any) -> None:
    assert "no-such-python" in seen["enable refused"]


@pytest.mark.spark
@pytest.mark.long  # a Spark of its own; another test refuses such a jar before Spark starts
def test_another_jar_in_the_session_is_refused_naming_both_versions(tmp_path: Path) -> None:
    refusal = walked("doctored", tmp_path)["refused"]
    assert f"Colonnade 9.9.9, but the Python package is version {VERSION}" in refusal


def test_a_second_session_of_the_same_spark_has_the_jar_too(seen: Any) -> None:
    if seen["kind"] != "connect":
        assert seen["new session"]["source"] == "Java"


def test_no_planner_is_left_behind(seen: Any) -> None:
    assert not alive(seen["last"]["planner_pid"])


def test_the_log_is_in_sparks_log_folder(seen: Any) -> None:
    log = Path(seen["last"]["planner_log"])
    assert log.parent.name == "logs"
    assert "No module named orjson" in log.read_text()


def test_a_jar_of_another_version_is_refused_naming_both(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("colonnade.spark_ext.jar.JAR", with_other_version(tmp_path / "a.jar"))
    with pytest.raises(InvalidInputError, match=f"is version 9.9.9, but .* version {VERSION}"):
        colonnade.configure(SparkSession.Builder())


def test_a_jar_older_than_its_sources_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    digest = hash_in(JAR)
    assert digest is not None
    older = doctored(tmp_path / "a.jar", digest[:32], "0" * 32)
    monkeypatch.setattr("colonnade.spark_ext.jar.JAR", older)
    with pytest.raises(InvalidInputError, match=r"older than its sources; build it with: .*build"):
        colonnade.jar_path()


def test_a_missing_jar_is_an_error_that_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("colonnade.spark_ext.jar.JAR", tmp_path / "a.jar")
    with pytest.raises(NotFoundError, match=r"does not exist; build it with: .*build\.py"):
        colonnade.configure(SparkSession.Builder())


def test_an_installation_without_the_jar_says_why_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("colonnade.spark_ext.jar.JAR", tmp_path / "a.jar")
    monkeypatch.setattr("colonnade.spark_ext.jar.BUILD", tmp_path / "build.py")
    with pytest.raises(NotFoundError, match=r"built without a JDK: install a JDK, 17 or newer"):
        colonnade.configure(SparkSession.Builder())


@pytest.fixture
def before_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the session that another test of this process has started."""
    monkeypatch.setattr("colonnade.spark_ext.session._running", lambda: None)
    monkeypatch.setattr(SparkContext, "_gateway", None)


@pytest.mark.usefixtures("before_spark")
def test_configuring_keeps_what_the_builder_has() -> None:
    builder = SparkSession.Builder().config("spark.jars", "a.jar,b.jar")
    builder.config("spark.colonnade.python", "/my/python")
    options = colonnade.configure(builder)._options
    assert options["spark.jars"] == f"a.jar,b.jar,{JAR}"
    assert options["spark.colonnade.python"] == "/my/python"
    assert "spark.colonnade.pythonPath" not in options  # its packages are not for that Python
    assert colonnade.configure(builder)._options["spark.jars"].count(",") == 2
    assert options["spark.sql.catalog.colonnade"] == "colonnade.catalog.ColonnadeCatalog"


@pytest.mark.usefixtures("before_spark")
def test_configuring_hides_options_of_stores_and_all_that_was_hidden_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, key = "spark.redaction.regex", "spark.colonnade.storage.account_key"
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    hidden = re.compile(colonnade.configure(SparkSession.Builder())._options[name])
    assert hidden.search(key)
    assert hidden.search("spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net")
    assert hidden.search("PASSWORD")
    assert not hidden.search("spark.colonnade.python")
    own = colonnade.configure(SparkSession.Builder().config(name, "mine"))
    own = colonnade.configure(own)
    assert re.search(own._options[name], key)
    assert re.search(own._options[name], "mine")
    assert own._options[name].count("storage") == 1
    (tmp_path / "spark-defaults.conf").write_text(f"{name} pin\n")
    both = colonnade.configure(SparkSession.Builder())._options[name]
    assert re.search(both, key)
    assert re.search(both, "pin")


def test_configuring_sets_nothing_for_a_connect_server_that_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_address = SparkSession.Builder().remote("sc://somewhere")
    assert colonnade.configure(by_address)._options == {"spark.remote": "sc://somewhere"}
    monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
    assert colonnade.configure(SparkSession.Builder())._options == {}


@pytest.mark.usefixtures("before_spark")
def test_jars_and_catalogs_of_the_command_and_of_the_file_of_defaults_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    catalog = "spark.sql.catalog.spark_catalog"
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text(f"spark.jars a.jar\n{catalog}=their.Catalog\n")
    options = colonnade.configure(SparkSession.Builder())._options
    assert options["spark.jars"] == f"a.jar,{JAR}"
    assert catalog not in options
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars b.jar pyspark-shell")
    assert colonnade.configure(SparkSession.Builder())._options["spark.jars"].startswith("b.jar,")


@pytest.mark.usefixtures("before_spark")
@pytest.mark.parametrize(
    ("there", "setting", "expected"),
    [
        (None, None, sys.executable),
        ("", None, sys.executable),
        ("/a", "/b", "/a"),
        (None, "/b", "/b"),
    ],
)
def test_workers_run_the_python_of_the_driver_unless_someone_chose_another(
    monkeypatch: pytest.MonkeyPatch, there: str | None, setting: str | None, expected: str
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", there or "")
    if there is None:
        monkeypatch.delenv("PYSPARK_PYTHON")
    builder = SparkSession.Builder()
    if setting is not None:
        builder.config("spark.pyspark.python", setting)
    colonnade.configure(builder)
    assert os.environ["PYSPARK_PYTHON"] == expected


@pytest.mark.long
@pytest.mark.spark_compat
def test_the_same_sources_make_the_same_jar_with_any_pyspark(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    assert build(jar)
    assert jar.read_bytes() == JAR.read_bytes()
    assert not build(jar)


@pytest.mark.spark
def test_the_log_is_in_no_folder_where_another_user_could_replace_it(tmp_path: Path) -> None:
    logs, temporary = tmp_path / "logs", tmp_path / "temporary"
    for folder in (logs, temporary):
        folder.mkdir()
        folder.chmod(0o777)
    script = (
        "import os, colonnade\n"
        "try:\n"
        "    colonnade.session()\n"
        "except Exception as error:\n"
        "    print('REFUSED', error)\n"
        f"os.chmod({str(temporary)!r}, 0o1777)\n"
        "print('LOG', colonnade.doctor(colonnade.session()).planner_log)\n"
    )
    java = f"-Djava.io.tmpdir={temporary} {os.environ.get('JDK_JAVA_OPTIONS', '')}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        cwd=tmp_path,
        env={**os.environ, "SPARK_LOG_DIR": str(logs), "JDK_JAVA_OPTIONS": java},
    )
    refusal = f"REFUSED [COLONNADE_PLANNER] The planner's log cannot be in {temporary} (other"
    assert refusal in done.stdout, done.stdout[-8000:]
    assert f"LOG {temporary}/colonnade-planner-" in done.stdout, done.stdout[-8000:]
    assert list(logs.iterdir()) == []
