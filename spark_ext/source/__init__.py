"""The data source in pure Python, for sessions that cannot load the jar.

source         what Spark finds by the name of the format
reader         a query: its plan on the driver, its rows in tasks
writer         a write: its tasks and its commit
streams        the refusal of streams
empty_arrays   a repair of arrays that Spark 4.1 sends
"""
