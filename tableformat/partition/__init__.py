"""Rows by partition.

    murmur3.py     the hash of `bucket`
    transforms.py  values of columns under the transforms of a layout
    divide.py      which rows belong together
    writer.py      RowSets of one partition each
    prune.py       RowSets that a predicate rules out by their partitions
    text.py        partitions as people read them

Spec: docs/spec/partitions.md
"""
