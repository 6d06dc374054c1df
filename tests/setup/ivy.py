"""Single jars from Maven's registry, fetched with Spark's own Ivy and compared with their hash."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.setup.server import KEEP, run

_MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
<info organisation="colonnade" module="tests"/>
<configurations><conf name="default"/></configurations>
<dependencies>
<dependency org="{organisation}" name="{name}" rev="{version}" conf="default->default"
 transitive="false"><artifact name="{name}" type="jar" ext="jar"{classifier}/></dependency>
</dependencies></ivy-module>
"""


class Artifact(NamedTuple):
    """A jar of the registry, and its SHA-256 hash."""

    organisation: str
    name: str
    version: str
    sha256: str
    classifier: str = ""


def spark_jars() -> Path:
    """Return the folder of the jars of the pyspark that Python imports. Does not import it."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "jars"


def version_of(name: str) -> str:
    """Return the version of one of Spark's jars."""
    found = re.fullmatch(rf"{name}-([0-9.]+)\.jar", next(spark_jars().glob(f"{name}-*.jar")).name)
    assert found is not None
    return found[1]


def fetch(artifact: Artifact, folder: Path) -> Path:
    """Fetch a jar into a folder. Raises: RuntimeError where that fails, or for another hash."""
    classifier = f' m:classifier="{artifact.classifier}"' if artifact.classifier else ""
    text = _MODULE.format(**{**artifact._asdict(), "classifier": classifier})
    jar = folder / f"{artifact.name}-{artifact.version}.jar"
    with tempfile.TemporaryDirectory(dir=KEEP) as work:
        module = Path(work, "ivy.xml")
        module.write_text(text)
        ivy = spark_jars() / f"ivy-{version_of('ivy')}.jar"
        command = ["java", "-jar", ivy, "-ivy", module, "-cache", f"{work}/cache"]
        run(
            [*command, "-types", "jar", "-retrieve", f"{folder}/[artifact]-[revision].[ext]"],
            f"{artifact.name} could not be fetched",
        )
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if found != artifact.sha256:
        jar.unlink()
        raise RuntimeError(f"{jar.name} has the hash {found}, and not {artifact.sha256}.")
    return jar
