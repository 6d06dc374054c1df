"""What holds for all tests: none fails because the machine is slow or busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("colonnade", settings(), deadline=None)
settings.load_profile("colonnade")
