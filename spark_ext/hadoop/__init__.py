"""Hadoop's settings of a store as options of Python's client for it. Pure.

stores                any store, by its URL
s3 gcs azure hdfs     one kind of store each
"""
