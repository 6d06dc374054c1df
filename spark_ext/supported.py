"""Which Spark the Spark half runs with; imports nothing of Spark's."""

from __future__ import annotations

import re

OLDEST = (4, 1)


def is_supported(version: str) -> bool:
    """Whether a version of pyspark or of Spark, such as `4.1.4` or `3.5.2-amzn-1`, is one of them.

    Versions newer than those that the package was tested with are: they usually work.
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST


def needed() -> str:
    """What to install, as part of a sentence."""
    return f"Spark {'.'.join(map(str, OLDEST))} or newer"
