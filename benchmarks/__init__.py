"""Every figure that Colonnade publishes: `python -m benchmarks --help`.

the command      __main__.py  measure.py  profiling.py  plot.py
without Spark    encoding.py  append.py  open_head.py  many_columns.py  task_memory.py
                 verify.py  alterations.py  in_order.py  keys.py  tombstones.py
                 lifetimes.py  keys_sustained.py  keys_python.py  keys_rowsets.py
commits          commit_rate.py  concurrency.py
in a bucket      stores.py  stores_python.py  commit_rate_s3.py  s3_clients.py  slow_network.py
                 fsspec_clients.py
two checkouts    trees.py  trees_work.py  trees_spark.py  trees_spark_work.py
years of use     epochs.py  growth.py  compaction.py  compaction_curve.py
in Spark         spark.py  peers.py  wide.py  changes.py  columns.py  bloom.py  first_merge.py
                 identities.py  engines.py  range_deletes.py  range_scans.py  keys_spark.py
"""
