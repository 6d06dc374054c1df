"""The process beside Spark's driver in which Python decides what its Java half carries out.

`python -m colonnade.spark_ext.planner` answers requests until its input ends. `server` moves the
lines. Each other module holds operations: functions from arguments to a result, in its `OPS`.
"""
