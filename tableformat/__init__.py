"""What bytes mean: types, blocks, RowSets, predicates, scans, and the table over them.

Imports `manifests` and Arrow, never Spark.
"""
