"""Spark's settings from elsewhere, which a setting of a session's builder would replace.

Before the JVM runs, they are in PYSPARK_SUBMIT_ARGS and in the file of Spark's defaults. Under
`spark-submit`, in a shell and after a first session, the JVM knows them all.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkConf, SparkContext

JARS = "spark.jars"
_LINE = re.compile(r"((?:[^\\\s=:]|\\.)+)\s*[\s=:]?\s*(.*)")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")


def running_jvm() -> Any:
    """Return the JVM if one runs already, else None; `spark-submit` starts it before Python."""
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    SparkContext._ensure_initialized()
    return SparkContext._jvm


def launch_settings() -> Mapping[str, str]:
    """Return the settings of Spark that come from the command, or from the file of defaults."""
    if running_jvm() is not None:
        return dict(SparkConf().getAll())
    given, file = _submitted(shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "")))
    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf")
    defaults = Path(file or os.path.join(folder, "spark-defaults.conf"))
    text = defaults.read_text(errors="replace") if defaults.is_file() else ""
    return {**dict(_properties(text)), **given}


def _submitted(words: list[str]) -> tuple[dict[str, str], str | None]:
    """Return the settings among the words of a command, and the file that it reads instead."""
    found: dict[str, str] = {}
    file = None
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        option, joined, value = word.partition("=")
        value = value if joined else after
        if option in ("--conf", "-c"):
            name, _, text = value.partition("=")
            found[name] = text
        elif option == "--jars":
            found[JARS] = value
        elif option == "--properties-file":
            file = value
    return found, file


def _properties(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of a file of properties, as Java reads it."""
    for line in re.sub(r"(?<!\\)((?:\\\\)*)\\\n\s*", r"\1", text).splitlines():
        found = _LINE.match(line.strip())
        if found is not None and found[1][0] not in "#!":
            yield _unescaped(found[1]), _unescaped(found[2])


def _unescaped(text: str) -> str:
    controls = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

    def meant(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else controls.get(code, code)

    return _ESCAPED.sub(meant, text)
