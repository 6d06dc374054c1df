"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.measure import save, show

FOLDERS = {
    "rows": {
        "encoding": "size, encode and decode of lineitem beside Parquet-zstd",
        "bloom": "a key that nothing is sorted by, with Bloom filters and without",
        "append": "a thousand appends of ten rows without Spark",
        "many_columns": "1,000 rows of 2,000 columns without Spark beside Parquet-zstd",
        "verify": "verifying the checksums of a gigabyte beside cat",
        "alterations": "changes of columns without Spark, and reads of the evolved table",
        "lifetimes": "ranges deleted unread, and rows that expire, without Spark",
        "task_memory": "peak memory of a writing task, 100 columns, 5 million rows",
        "engine_filters": "filters by DuckDB and Polars, and TPC-H, beside Parquet and others",
        "compaction": "compaction beside writing the same rows at once, with and without Spark",
    },
    "log": {
        "open_head": "opening databases of up to a million RowSets",
        "epochs": "opening and vacuuming a log of ten million epochs, beside a short one",
        "growth": "opening one table of a database that has grown, beside a small one",
        "commit_rate": "one process, eight processes and eight threads that append to one table",
        "concurrency": "a compaction beside a deleted row, in memory",
        "streamed_day": "86,400 batches of a stream, and a stream that follows them, without Spark",
        "compaction_curve": "100,000 appends under maintenance, simulated: bytes and RowSets",
    },
    "keys": {
        "keys": "upserts of random keys into 2 and 20 million rows, without Spark",
        "keys_rowsets": "upserts into tables of many small RowSets, without Spark",
        "keys_sustained": "such upserts for minutes, beside rounds of maintenance",
        "keys_spark": "upserts and reads by key beside Delta Lake and Iceberg (pyspark 4.1 only)",
        "keys_python": "upserts by key without Spark, beside PyIceberg, which must be installed",
        "tombstones": "upserts and scans beside deleted keys that a table remembers, without Spark",
        "identities": "four writers of an identity column at once, beside Delta (pyspark 4.1 only)",
    },
    "spark": {
        "spark": "writing and scanning lineitem through Spark beside Parquet-zstd",
        "wide": "200 columns, and ranges of a key, through Spark beside Parquet-zstd",
        "columns": "columns added, computed, widened and set (pyspark 4.1: beside the peers)",
        "in_order": "rows by key and in its order, and joins of tables that are bucketed alike",
        "range_scans": "scans in Spark beside and around a thousand small ranges deleted unread",
    },
    "peers": {
        "peers": "Spark with Colonnade, plain Parquet, Delta Lake and Iceberg (pyspark 4.1 only)",
        "changes": "DELETE, UPDATE, MERGE and writers at once beside the peers (pyspark 4.1 only)",
        "feed": "the change feed: statements and reads beside the peers' (pyspark 4.1 only)",
        "first_merge": "the first MERGE of a session beside Iceberg's (pyspark 4.1 only)",
        "range_deletes": "DELETE of ranges beside the peers (pyspark 4.1 only)",
        "streams": "streams from table to table beside the peers' (pyspark 4.1 only)",
    },
    "libraries": {
        "libraries": "ten tasks beside delta-rs, PyIceberg, Lance and DuckDB, without Spark",
        "memory": "the peak memory of each operation on 20 million rows, without Spark",
    },
    "stores": {
        "stores": "Spark in a bucket 20 ms away, beside Delta Lake and Iceberg (pyspark 4.1 only)",
        "stores_python": "the same bucket without Spark, beside PyIceberg and delta-rs",
        "commit_rate_s3": "eight processes that append to one table in a bucket, beside bare PUTs",
        "s3_clients": "the client of buckets beside s3fs and obstore, which must be installed",
        "fsspec_clients": "the clients of GCS and Azure beside gcsfs and adlfs, 20 ms away",
    },
    "trees": {
        "trees": "this checkout beside another one, given by --before, without Spark",
        "trees_spark": "this checkout beside another one, given by --before, in Spark",
    },
}
"""The benchmarks of each folder, and what each measures."""

BENCHMARKS = {name: text for each in FOLDERS.values() for name, text in each.items()}

OF_PEERS = (
    "changes",
    "feed",
    "first_merge",
    "identities",
    "keys_python",
    "keys_spark",
    "libraries",
    "peers",
    "range_deletes",
    "s3_clients",
    "stores",
    "stores_python",
    "streams",
)


def main() -> None:
    """Run one benchmark or all; print a table for each, and write JSON beside the data."""
    names = "\n\n".join(
        "\n".join(f"  {name:16} {text}" for name, text in each.items()) for each in FOLDERS.values()
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Measure Colonnade.\n\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("benchmark", choices=[*BENCHMARKS, "all"],
                        help="`all` leaves out those for other packages")  # fmt: skip
    parser.add_argument("--folder", type=Path, default=Path("colonnade-benchmarks"),
                        help="folder of data and results (default: %(default)s)")  # fmt: skip
    parser.add_argument("--scale", type=float, default=1.0,
                        help="TPC-H scale factor (default: %(default)s)")  # fmt: skip
    parser.add_argument("--runs", type=int, default=5,
                        help="timed runs of each side (default: %(default)s)")  # fmt: skip
    parser.add_argument("--profile", metavar="ROW", nargs="+",
                        help="only profile Colonnade in the rows of `peers` whose names contain "
                        "one of these")  # fmt: skip
    parser.add_argument("--rows", metavar="ROW", nargs="+", default=(),
                        help="only the rows of `stores` or `columns` whose names contain one of "
                        "these, or these parts of `keys_spark` and `streams`")  # fmt: skip
    parser.add_argument("--minutes", type=float, default=10,
                        help="the time of `keys_sustained` (default: %(default)s)")  # fmt: skip
    parser.add_argument("--before", type=Path,
                        help="the other checkout for `trees` and `trees_spark` (default: this "
                        "one)")  # fmt: skip
    arguments = parser.parse_args()
    if arguments.profile and arguments.benchmark != "peers":
        parser.error("--profile is for the rows of `peers`")
    if arguments.rows and arguments.benchmark not in ("columns", "keys_spark", "stores", "streams"):
        parser.error("--rows is for the rows of `columns`, `keys_spark`, `stores` and `streams`")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.profile:
        peers = importlib.import_module("benchmarks.peers.peers")
        folder = arguments.folder.resolve()
        for text in peers.profile(folder, arguments.scale, arguments.profile, arguments.runs):
            print(text, flush=True)
        return
    # The peers need an older Spark than the other benchmarks, or packages that Colonnade does not.
    every = [name for name in BENCHMARKS if name not in (*OF_PEERS, "trees", "trees_spark")]
    chosen = every if arguments.benchmark == "all" else [arguments.benchmark]
    for name in chosen:
        print(f"measuring {BENCHMARKS[name]} …", flush=True)
        [folder] = (each for each, names in FOLDERS.items() if name in names)
        module = importlib.import_module(f"benchmarks.{folder}.{name}")
        others = {
            "trees": (arguments.before,),
            "trees_spark": (arguments.before,),
            "columns": (arguments.rows,),
            "keys_spark": (arguments.rows,),
            "stores": (arguments.rows,),
            "streams": (arguments.rows,),
            "keys_sustained": (arguments.minutes,),
        }.get(name, ())
        figures = module.run(arguments.folder.resolve(), arguments.scale, arguments.runs, *others)
        print(f"\n## {name}\n\n{show(figures)}\n")
        print(f"written to {save(name, figures, arguments.folder)}", flush=True)


if __name__ == "__main__":
    main()
