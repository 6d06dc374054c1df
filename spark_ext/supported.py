"""The versions of Spark that the Spark half supports; this module does not import Spark."""

from __future__ import annotations

import re

OLDEST = (4, 1)


def is_supported(version: str) -> bool:
    """Whether a version of pyspark or Spark, such as `4.1.4` or `3.5.2-amzn-1`, is supported.

    Versions newer than the tested ones are supported too, since they usually work.
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST


def needed() -> str:
    """Return what to install, as part of a sentence."""
    return f"Spark {'.'.join(map(str, OLDEST))} or newer"
