"""Stores behind a network.

stores.py  stores_python.py  commit_rate_s3.py  s3_clients.py  fsspec_clients.py
slow_network.py
"""
