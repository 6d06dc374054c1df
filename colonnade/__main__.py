"""`python -m colonnade`: the command line without an installed script."""

from __future__ import annotations

from colonnade.cli import main

main()
