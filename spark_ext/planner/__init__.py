"""The process beside Spark's driver in which Python decides what its Java half carries out.

`python -m spark_ext.planner` answers requests until its input ends. `server` moves the lines;
each other module holds operations: functions from arguments to a result, listed in its `OPS`.
"""
