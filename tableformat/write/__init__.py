"""Writing rows with tasks: the job, its settings, constraints, and replaced columns."""
