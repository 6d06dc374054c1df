"""Rows by partition.

    murmur3.py     the hash of `bucket`
    transforms.py  values of columns under the transforms of a layout
    divide.py      rows divided by partition
    writer.py      RowSets of one partition each
    prune.py       RowSets that a predicate rules out by their partitions
    text.py        partitions as text for people

Spec: docs/spec/partitions.md
"""
