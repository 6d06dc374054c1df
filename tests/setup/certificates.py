"""A certificate authority of a test, and the certificate of a server on this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

PASSWORD = "changeit"


class Authority:
    """An authority that nothing else trusts.

    `certificate` is its own certificate, `trust_store` the same for Java, and `server` a folder
    with the certificate of a server at 127.0.0.1. Needs `openssl` and, for the trust store, the
    `keytool` of a JDK.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.certificate, self.server = folder / "ca.pem", folder / "server"
        self.server.mkdir(parents=True)
        new = ("req", "-newkey", "rsa:2048", "-nodes")
        openssl = ("openssl", *new, "-x509", "-subj", "/CN=authority", "-days", "2")
        ca = ("-addext", "basicConstraints=critical,CA:TRUE")
        self._run(*openssl, *ca, "-keyout", "ca.key", "-out", "ca.pem")
        request = ("-subj", "/CN=server", "-keyout", "server/private.key", "-out", "server.csr")
        self._run("openssl", *new, *request)
        (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost")
        signed = ("-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
        out = ("-extfile", "names", "-days", "2", "-out", "server/public.crt")
        self._run("openssl", "x509", "-req", *signed, *out)

    @property
    def trust_store(self) -> Path:
        """A new trust store in PKCS12 with the password `PASSWORD`."""
        store = ("-keystore", "trust.p12", "-storetype", "PKCS12", "-storepass", PASSWORD)
        (self._folder / "trust.p12").unlink(missing_ok=True)
        self._run(
            "keytool", "-importcert", "-noprompt", "-alias", "lake", "-file", "ca.pem", *store
        )
        return self._folder / "trust.p12"

    def _run(self, *command: str) -> None:
        subprocess.run(command, cwd=self._folder, check=True, capture_output=True)
