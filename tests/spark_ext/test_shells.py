"""Spark's own programs, `spark-sql` and the Thrift server, with the settings of
docs/spark-sessions.md."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.processes import HOME, running, wait_for
from tests.spark_ext.statements import REFUSAL, REFUSED, RESULT, ROAD, masked

pytestmark = [pytest.mark.spark, pytest.mark.long]

THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
PROMPT = re.compile(r"\d+: jdbc:\S+ ")


def settings(folder: Path) -> list[str]:
    """A Spark with the jar and the catalogs, its warehouses in `folder`."""
    options = {
        "spark.sql.catalog.colonnade": "colonnade.catalog.ColonnadeCatalog",
        "spark.sql.catalog.spark_catalog": "colonnade.catalog.ColonnadeSessionCatalog",
        "spark.sql.extensions": "colonnade.catalog.SessionExtension",
        "spark.sql.catalog.colonnade.warehouse": f"{folder}/warehouse",
        "spark.sql.warehouse.dir": f"{folder}/spark",
        "spark.colonnade.python": sys.executable,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    chosen = [f"--conf={name}={value}" for name, value in options.items()]
    jar = str(colonnade.jar_path())
    # Sessions of the Thrift server look for their catalogs where only the class path reaches.
    return ["--master", "local[2]", "--jars", jar, "--driver-class-path", jar, *chosen]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The whole road and the statement that is refused."""
    path = tmp_path / "road.sql"
    path.write_text("".join(f"{each};\n" for each in [*(text for text, _ in ROAD), REFUSED]))
    return path


@pytest.fixture
def thrift_server(tmp_path: Path) -> Iterator[str]:
    """The JDBC address of a Thrift server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(HOME / "bin" / "spark-submit"), "--class", THRIFT_SERVER, *settings(tmp_path)]
    command += ["spark-internal", "--hiveconf", f"hive.server2.thrift.port={port}"]
    command += ["--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"]
    log = tmp_path / "server.log"
    with running(command, log) as process:
        wait_for("HiveThriftServer2 started", process, log)
        yield f"jdbc:hive2://127.0.0.1:{port}"


def lines(output: Path) -> list[str]:
    """What a shell printed, without its prompts."""
    return [masked(line) for line in PROMPT.sub("", output.read_text()).splitlines() if line]


def test_spark_sql_walks_the_whole_road(script: Path, tmp_path: Path) -> None:
    log, output = tmp_path / "shell.log", tmp_path / "output"
    command = [str(HOME / "bin" / "spark-sql"), "-S", *settings(tmp_path), "-f", str(script)]
    with running(command, log, output=output) as process:
        assert process.wait(timeout=200) != 0, "the last statement is refused"
    assert lines(output) == RESULT, log.read_text()[-4000:]
    assert REFUSAL in log.read_text()


def test_spark_sql_with_the_jar_alone_has_the_catalog_and_names_the_line_that_is_missing(
    tmp_path: Path,
) -> None:
    statements = (
        "CREATE NAMESPACE colonnade.shop",
        "CREATE TABLE colonnade.shop.orders (id BIGINT, twice BIGINT GENERATED ALWAYS AS (id * 2))",
        "INSERT INTO colonnade.shop.orders (id) VALUES (4)",
        "SELECT * FROM colonnade.shop.orders",
        "CREATE TABLE lone (id BIGINT) USING colonnade",
    )
    (tmp_path / "road.sql").write_text("".join(f"{each};\n" for each in statements))
    log, output = tmp_path / "shell.log", tmp_path / "output"
    command = [str(HOME / "bin" / "spark-sql"), "--master", "local[2]"]
    command += ["--conf", "spark.ui.enabled=false", "--jars", str(colonnade.jar_path())]
    command += ["-f", str(tmp_path / "road.sql")]
    pythons = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": ""}
    with running(command, log, given=None, output=output, **pythons) as process:
        assert process.wait(timeout=200) != 0, "the last statement is refused"
    assert lines(output) == ["4\t8"], log.read_text()[-4000:]
    said = log.read_text()
    line = "--conf spark.sql.catalog.spark_catalog=colonnade.catalog.ColonnadeSessionCatalog"
    assert line in said
    assert not re.search(r"^\s+at [\w.$]+\(", said, re.MULTILINE)


def test_a_client_of_the_thrift_server_walks_the_whole_road(
    thrift_server: str, script: Path, tmp_path: Path
) -> None:
    log, output = tmp_path / "client.log", tmp_path / "output"
    command = [str(HOME / "bin" / "beeline"), "-u", thrift_server, "-n", "somebody"]
    command += ["--silent=true", "--showHeader=false", "--outputformat=tsv2"]
    with running(command, log, given=script, output=output) as process:
        assert process.wait(timeout=200) != 0, "the last statement is refused"
    assert lines(output) == RESULT, log.read_text()[-4000:]
    assert REFUSAL in log.read_text()
