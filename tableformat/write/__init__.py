"""Writing rows with tasks: the job, its settings, constraints, identity and replaced columns."""
