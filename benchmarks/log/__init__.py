"""The log and its commits, and what grows with years of use, without Spark.

open_head.py  epochs.py  growth.py  commit_rate.py  concurrency.py  compaction_curve.py
streamed_day.py
"""
