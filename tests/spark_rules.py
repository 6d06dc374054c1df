"""The rules that the jar gives to Spark, as its one list of them says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).parents[1] / "spark_ext/java/src/colonnade/spark/quirks/rules/SparkRules.java"

_RULE = re.compile(
    r'rule\("(?P<name>\w+)",\s*Mends\.(?P<mends>\w+),\s*(?P<versions>\w+|"[^"]+"),'
    r'\s*(?P<without>"[^"]*"(?:\s*\+\s*"[^"]*")*),'
)


class SparkRule(NamedTuple):
    """A rule, what it is good for, the versions of Spark that need it, and what is without it."""

    name: str
    mends: str
    versions: str
    without: str

    @property
    def setting(self) -> str:
        """The setting of a session that turns it off."""
        return f"spark.colonnade.rule.{self.name}"


def listed() -> dict[str, SparkRule]:
    """The rules by their names, in the order of the list."""
    text = LIST.read_text()
    constants = dict(re.findall(r'String (\w+) = "([^"]+)";', text))
    return {
        each["name"]: SparkRule(
            each["name"],
            each["mends"],
            constants.get(each["versions"]) or each["versions"].strip('"'),
            "".join(re.findall(r'"([^"]*)"', each["without"])),
        )
        for each in _RULE.finditer(text)
    }
