"""Every figure that Colonnade publishes: `python -m benchmarks --help`."""
