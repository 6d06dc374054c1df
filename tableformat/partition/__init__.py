"""Rows by partition.

    murmur3.py     the hash of `bucket`
    transforms.py  values of columns under the transforms of a layout
    divide.py      which rows belong together
    writer.py      RowSets of one partition each

Spec: docs/spec/partitions.md
"""
