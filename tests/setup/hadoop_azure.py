"""The jar that lets Hadoop reach Azure, for the Hadoop of the pyspark that Python imports.

`python tests/setup/hadoop_azure.py` fetches it with Spark's own Ivy: 1 MB, once. Spark has all that
it needs to speak to the API of Azure Blob Storage.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.ivy import Artifact, fetch, version_of
from tests.setup.server import KEEP, kept

HASHES = {
    "3.4.2": "f02ab756037abaecc45ea1869144ad3a69e25ccd84062bc37805837ca254e21c",
    "3.5.0": "220b5db238b82437960e4b81c7e3eefa4eff2a03ad502887497f11d0ad86e663",
}
"""The SHA-256 hash of the jar of each version of Hadoop."""


def jar() -> Path:
    """Return the jar; fetched where it is missing, while other processes wait."""
    version = version_of("hadoop-client-api")
    wanted = Artifact("org.apache.hadoop", "hadoop-azure", version, HASHES[version])

    def make(place: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as folder:
            fetch(wanted, Path(folder)).rename(place)

    return kept(f"{wanted.name}-{version}.jar", make)


if __name__ == "__main__":
    print(jar())
