"""A MinIO server for tests: a real S3 server with conditional writes, built from its source once.

`python tests/setup/minio.py` builds it: two minutes on two quiet cores, and nothing where it is
there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from botocore.session import Session

from tests.setup.server import Server, free_port, go_program

VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"
KEY, SECRET = "colonnade", "colonnade-secret"


def binary() -> Path:
    """The server's program; built where it is missing, while other processes wait."""
    return go_program("github.com/minio/minio", VERSION)


class Minio(Server):
    """A server with data of its own in `folder`, on a free port of this machine."""

    def __init__(self, folder: Path, certificates: Path | None = None) -> None:
        """With `certificates`, a folder of `public.crt` and `private.key`, it speaks TLS alone."""
        self.port = free_port()
        self.folder = folder
        self.url = f"http{'s' if certificates else ''}://127.0.0.1:{self.port}"
        self._buckets = 0
        environment = {
            "MINIO_ROOT_USER": KEY,
            "MINIO_ROOT_PASSWORD": SECRET,
            "MINIO_BROWSER": "off",
            "MINIO_API_REQUESTS_MAX": "1000",
        }
        command = [binary(), "server", folder / "data", "--address", f"127.0.0.1:{self.port}"]
        command += ["--certs-dir", certificates] if certificates else []
        # A server with TLS answers this, too: with a refusal.
        ready = f"http://127.0.0.1:{self.port}/minio/health/ready"
        super().__init__(folder, command, ready, environment)

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        place = {"endpoint_url": self.url, "client_kwargs": {"region_name": "us-east-1"}}
        return {"key": KEY, "secret": SECRET, **place, **others}

    def new_bucket(self) -> str:
        """Make an empty bucket, which is a folder in the server's data."""
        self._buckets += 1
        name = f"bucket-{os.getpid()}-{self._buckets}"
        (self.folder / "data" / name).mkdir()
        return name

    def versioned_bucket(self) -> str:
        """Make an empty bucket that keeps every version of an object."""
        name = self.new_bucket()
        kept = {"Status": "Enabled"}
        plain_client(self.url).put_bucket_versioning(Bucket=name, VersioningConfiguration=kept)
        return name

    def locked_bucket(self) -> str:
        """Make an empty bucket whose object lock keeps every version for a day."""
        self._buckets += 1
        name = f"locked-{os.getpid()}-{self._buckets}"
        client = plain_client(self.url)
        client.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
        kept = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
        rule = {"ObjectLockEnabled": "Enabled", "Rule": kept}
        client.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=rule)
        return name


def plain_client(url: str) -> Any:
    """Return a client of botocore for a server, to look at its objects without Colonnade."""
    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
    return Session().create_client("s3", "us-east-1", endpoint_url=url, **keys)


if __name__ == "__main__":
    print(binary())
