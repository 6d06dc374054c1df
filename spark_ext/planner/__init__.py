"""The planner: a Python process beside Spark's driver that plans and commits for the Java half.

`python -m colonnade.spark_ext.planner` answers requests until its input ends. Operations are
functions from a request to its reply, marked by `@operation`.

    messages/               requests and replies, which the jar has as records
    state/                  what it keeps between requests: options, transactions, snapshots
    clauses/                parts of statements that several requests have
    read/  write/           what a query reads, what a statement writes
    catalog/  procedures/   databases and tables, CALL
    outdated_requests.py    errors that tell the truth about epochs that are gone
    operations.py  server.py  __main__.py    all operations by name, and requests as lines
"""
