"""The planner: a Python process beside Spark's driver that plans and commits for the Java half.

`python -m colonnade.spark_ext.planner` answers requests until its input ends. `server` reads and
writes the lines. Most other modules define operations: functions from arguments to a result, which
they list in `OPS`.
"""
