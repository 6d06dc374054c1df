"""What holds for all tests: none fails because the machine is slow or busy."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.setup.class_archive import java_options

settings.register_profile("colonnade", settings(), deadline=None)
settings.load_profile("colonnade")

os.environ.setdefault("JDK_JAVA_OPTIONS", java_options())
