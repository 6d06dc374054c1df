"""The jars that let Hadoop reach S3, for the Hadoop of the pyspark that Python imports.

`python tests/setup/hadoop_aws.py` fetches them with Spark's own Ivy: 10 MB, once. The parts of
Amazon's SDK that S3A needs are fetched one by one, because its bundle has 600 MB.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

KEEP = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colonnade"
JARS = Path(pyspark.__file__).parent / "jars"
SDK = {"3.4.2": "2.29.52", "3.5.0": "2.35.4"}
"""The version of Amazon's SDK that each version of Hadoop names."""

_MODULE = """<ivy-module version="2.0">
<info organisation="colonnade" module="tests"/>
<configurations><conf name="default"/></configurations>
<dependencies>
<dependency org="org.apache.hadoop" name="hadoop-aws" rev="{hadoop}" conf="default->default"/>
{parts}
{left_out}
</dependencies></ivy-module>
"""
_PARTS = ("s3", "s3-transfer-manager", "sts")
_LEFT_OUT = (
    *(
        'org="io.netty"',
        'org="org.slf4j"',
        'org="commons-codec"',
        'org="org.apache.httpcomponents"',
    ),
    *('org="software.amazon.awssdk" module="bundle"', 'org="org.wildfly.openssl"'),
)
"""What Spark has, what the parts replace, and what only speeds up encryption."""


def jars() -> list[str]:
    """Return the paths of the jars; fetched where they are missing, while other processes wait."""
    hadoop = _version("hadoop-client-api")
    folder = KEEP / f"hadoop-aws-{hadoop}-{SDK[hadoop]}"
    if not folder.exists():
        KEEP.mkdir(parents=True, exist_ok=True)
        with (KEEP / "hadoop-aws.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                _fetch(hadoop, folder)
    return sorted(map(str, folder.glob("*.jar")))


def _version(name: str) -> str:
    found = re.fullmatch(rf"{name}-([0-9.]+)\.jar", next(JARS.glob(f"{name}-*.jar")).name)
    assert found is not None
    return found[1]


def _fetch(hadoop: str, folder: Path) -> None:
    part = '<dependency org="software.amazon.awssdk" name="{}" rev="{}" conf="default->default"/>'
    text = _MODULE.format(
        hadoop=hadoop,
        parts="\n".join(part.format(name, SDK[hadoop]) for name in _PARTS),
        left_out="\n".join(f"<exclude {each}/>" for each in _LEFT_OUT),
    )
    with tempfile.TemporaryDirectory(dir=KEEP) as made:
        module, jars = Path(made, "ivy.xml"), Path(made, "jars")
        module.write_text(text)
        ivy = JARS / f"ivy-{_version('ivy')}.jar"
        command = ["java", "-jar", str(ivy), "-ivy", str(module), "-cache", f"{made}/cache"]
        command += ["-types", "jar", "-retrieve", f"{jars}/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = [line for line in done.stdout.splitlines() if "::" in line or "ERROR" in line]
            raise RuntimeError(f"The jars for S3 could not be fetched: {' '.join(said[-3:])}")
        jars.rename(folder)


if __name__ == "__main__":
    print(*jars(), sep="\n", file=sys.stdout)
