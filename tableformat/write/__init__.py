"""Writing rows with tasks: the job, its settings, and replaced columns."""
