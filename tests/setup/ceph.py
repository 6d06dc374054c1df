"""The S3 server of Ceph for tests: a monitor, a disk in memory and a gateway, all of Debian.

`python tests/setup/ceph.py` fetches the packages with apt, 70 MB, once. They are unpacked into a
folder and not installed, so no right of root is needed. Where apt has no lists, `apt-get update`
comes first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.minio import KEY, SECRET, plain_client
from tests.setup.server import KEEP, Server, free_port, kept, run

PROGRAMS = ("ceph-mon", "ceph-osd", "radosgw")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
SETTINGS = """
[global]
fsid = {fsid}
mon host = v1:127.0.0.1:{port}
ms bind msgr2 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
keyring = {data}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 2000
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
osd class dir = {root}/{libraries}/rados-classes
plugin dir = {root}/{libraries}/ceph
erasure code dir = {root}/{libraries}/ceph/erasure-code
mon data = {data}/mon
osd data = {data}/osd
run dir = {data}
admin socket = {data}/$name.asok
log file = {data}/$name.log
pid file = {data}/$name.pid
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{gateway}
rgw data = {data}/rgw
"""


def installed() -> Path:
    """Return the folder of the unpacked packages. One of several processes makes a missing one."""
    listing = _asked("apt-get", "--print-uris", "--yes", "--no-install-recommends", "install")
    files = [line.split()[1] for line in listing.splitlines() if line.startswith("'")]
    version = next((each.split("_")[1] for each in files if each.startswith("radosgw_")), None)
    if version is None:
        raise RuntimeError("apt knows no package radosgw, or it is installed; run apt-get update")

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as made:
            names = [each.split("_")[0] for each in files]
            run(["apt-get", "download", *names], "Ceph could not be downloaded", folder=made)
            for package in Path(made).glob("*.deb"):
                run(["dpkg-deb", "--extract", package, Path(made, "root")], "not unpacked")
            Path(made, "root").rename(folder)

    return kept(f"ceph-{version.replace('+', '-')}", make)


def _asked(*command: str) -> str:
    done = subprocess.run([*command, *PROGRAMS], capture_output=True, text=True)
    return done.stdout


class Ceph:
    """A cluster of its own in `folder`, on free ports of this machine."""

    def __init__(self, folder: Path) -> None:
        self._root, self._data = installed(), folder / "ceph"
        for name in ("mon", "osd", "rgw"):
            (self._data / name).mkdir(parents=True)
        self.port, monitor = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._buckets = 0
        self._running: list[subprocess.Popen[bytes]] = []
        fsid = str(uuid.uuid4())
        places = {"root": self._root, "data": self._data, "libraries": LIBRARIES}
        text = SETTINGS.format(fsid=fsid, port=monitor, gateway=self.port, **places)
        (self._data / "ceph.conf").write_text(text)
        try:
            self._begin(fsid, monitor)
        except BaseException:
            self.stop()
            raise

    def _begin(self, fsid: str, port: int) -> None:
        data = self._data
        self._do("ceph-authtool", "--create-keyring", data / "keyring", "--gen-key", "-n", "mon.")
        self._do(
            *("monmaptool", "--create", "--addv", "a", f"[v1:127.0.0.1:{port}]"),
            *("--fsid", fsid, data / "monmap"),
        )
        # A map with one disk: without it, the disk would have to be made known by commands.
        self._do("osdmaptool", "--createsimple", "1", data / "osdmap")
        self._do(
            *("ceph-mon", "--mkfs", "-i", "a", "--monmap", data / "monmap"),
            *("--osdmap", data / "osdmap", "--keyring", data / "keyring"),
        )
        self._start("ceph-mon", "-f", "-i", "a")
        self._do("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", str(uuid.uuid4()))
        self._start("ceph-osd", "-f", "-i", "0")
        user = ("--uid=tests", "--display-name=tests", f"--access-key={KEY}", f"--secret={SECRET}")
        self._do("radosgw-admin", "user", "create", *user)
        command = [self._program("radosgw"), "-f", "-n", "client.rgw"]
        self._gateway = Server(self._data, command, self.url, self._environment())

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        place = {"endpoint_url": self.url, "client_kwargs": {"region_name": "us-east-1"}}
        return {"key": KEY, "secret": SECRET, **place, **others}

    def new_bucket(self) -> str:
        """Make an empty bucket."""
        self._buckets += 1
        name = f"bucket-{os.getpid()}-{self._buckets}"
        plain_client(self.url).create_bucket(Bucket=name)
        return name

    def stop(self) -> None:
        """End all programs."""
        if hasattr(self, "_gateway"):
            self._gateway.stop()
        for process in reversed(self._running):
            process.kill()
            process.wait(timeout=30)

    def _program(self, name: str) -> str:
        found = shutil.which(name, path=f"{self._root}/usr/bin")
        if found is None:
            raise RuntimeError(f"The packages of Ceph lack {name}")
        return found

    def _environment(self) -> Mapping[str, str]:
        folder = self._root / LIBRARIES
        libraries = f"{folder}:{folder}/ceph:{self._root}/lib/x86_64-linux-gnu"
        return {"CEPH_CONF": str(self._data / "ceph.conf"), "LD_LIBRARY_PATH": libraries}

    def _do(self, name: str, *words: object) -> None:
        environment = {**os.environ, **self._environment()}
        run([self._program(name), *words], f"{name} of Ceph failed", environment)

    def _start(self, name: str, *words: str) -> None:
        with (self._data / f"{name}.out").open("w") as log:
            process = subprocess.Popen(
                [self._program(name), *words],
                env={**os.environ, **self._environment()},
                stdout=log,
                stderr=log,
            )
        self._running.append(process)


if __name__ == "__main__":
    print(installed())
