"""Writing rows with tasks: job, settings, constraints, generated, identity, replaced columns."""
