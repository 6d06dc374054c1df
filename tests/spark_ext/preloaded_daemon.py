"""Spark's parent of Python workers, with the source imported before it forks.

Otherwise each of the many workers that a session starts imports it anew, which is most of the time
that these tests take. `python -m tests.spark_ext.preloaded_daemon`, as Spark calls it.
"""

from __future__ import annotations

from pyspark.daemon import manager

import colonnade.spark_ext.source.source  # noqa: F401

if __name__ == "__main__":
    manager()
