"""Two checkouts of Colonnade.

trees.py  trees_work.py  trees_spark.py  trees_spark_work.py
"""
