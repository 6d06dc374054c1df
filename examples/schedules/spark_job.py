"""A round of maintenance as a Spark job: spark-submit spark_job.py DATABASE [OPTION ...]

The options are those of `colonnade maintain`; with `--spark always` all of the work is done by
executors. Needs `colonnade[cli,spark]` installed where driver and executors run: an archive given
by --py-files is not enough, for Java cannot open the jar inside of it.
"""

from __future__ import annotations

import sys

from colonnade.cli.app import app

if __name__ == "__main__":
    app(["maintain", *sys.argv[1:]])
