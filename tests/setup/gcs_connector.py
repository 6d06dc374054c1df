"""Google's connector of Hadoop to GCS, with its dependencies inside.

`python tests/setup/gcs_connector.py` fetches it with Spark's own Ivy: 37 MB, once.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.ivy import Artifact, fetch
from tests.setup.server import KEEP, kept

CONNECTOR = Artifact(
    organisation="com.google.cloud.bigdataoss",
    name="gcs-connector",
    version="3.1.3",
    sha256="34752716758917d9a266ca7e770ffdd3fd430c7a3c48078c525264681da91db1",
    classifier="shaded",
)


def jar() -> Path:
    """Return the connector's jar; fetched where it is missing, while other processes wait."""

    def make(place: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as folder:
            fetch(CONNECTOR, Path(folder)).rename(place)

    return kept(f"{CONNECTOR.name}-{CONNECTOR.version}.jar", make)


if __name__ == "__main__":
    print(jar())
