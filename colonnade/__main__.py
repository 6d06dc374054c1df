"""Run the command line as `python -m colonnade`, without the installed script."""

from __future__ import annotations

from colonnade.cli import main

main()
