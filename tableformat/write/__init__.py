"""Rows of a table, written by tasks: the job, its settings, and replaced columns."""
