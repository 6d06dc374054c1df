"""What holds for all tests: none fails because the machine is slow or busy."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("colonnade", settings(), deadline=None)
settings.load_profile("colonnade")

# Every JVM of the tests lives for a minute or two, which the optimising compiler does not pay back.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
