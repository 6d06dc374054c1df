"""Check what the processes read, the rows and the files, after all processes have stopped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import colonnade
from colonnade.manifests.store import StoreAddress
from tests.longevity.record import Step, read_lines, read_steps
from tests.longevity.roles import PLAIN, TABLE, rows_of
from tests.setup.minio import plain_client
from tests.strategies import identical

Row = tuple[int, int, str]
"""Pair, value and text of a row."""


def judge(place: StoreAddress, records: Path) -> Iterator[str]:
    """Whatever is wrong, in words. Ends with a vacuum that keeps nothing but the newest epoch."""
    yield from judge_work(records)
    rows = colonnade.open(place / TABLE).scan().to_arrow()
    yield from _judge_rows(rows, records)
    yield from judge_rest(place)
    if colonnade.open(place / TABLE).scan().to_arrow().num_rows != len(rows):
        yield "the last vacuum changed what is read"


def judge_work(records: Path) -> Iterator[str]:
    """What went wrong in processes, and what readers saw that cannot be."""
    for line in read_lines(records, "fault"):
        yield f"{line['seat']} met {line['error']}"
    for line in read_lines(records, "scheduler"):
        yield from line["faults"]
    yield from _judge_reads(records)


def judge_rest(place: StoreAddress) -> Iterator[str]:
    """What is left over after a vacuum of all but the newest epoch, and what verify finds."""
    database = colonnade.open_database(place)
    for name in database.pins():
        database.unpin(name)
    for _ in range(2):  # the lists of the floor before may be in use, and go one run later
        database.vacuum(0, retain_epochs=1, force=True)
    left = database.vacuum(0, retain_epochs=1, dry_run=True).files
    yield from (f"{file.name} is left over" for file in left)
    yield from (str(finding) for finding in database.verify(4).findings)
    yield from _judge_files(place, database)


def _judge_reads(records: Path) -> Iterator[str]:
    digests: defaultdict[int, set[str]] = defaultdict(set)
    for line in read_lines(records, "reader"):
        digests[line["epoch"]].add(line["digest"])
        if line["broken"]:
            yield f"epoch {line['epoch']} was read with {line['broken']} broken rows"
    for epoch, found in digests.items():
        if len(found) > 1:
            yield f"epoch {epoch} was read in {len(found)} ways"


def _judge_rows(rows: pa.Table, records: Path) -> Iterator[str]:
    """Compare each batch with what became of the steps that were about it."""
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for batch, *row in zip(*(rows[name].to_pylist() for name in PLAIN), strict=True):
        found[batch].append((row[0], row[1], row[2]))
    deletes: defaultdict[int, list[Step]] = defaultdict(list)
    for step in read_steps(records, "deleter"):
        deletes[step.batch].append(step)
    appended = {step.batch: step for step in read_steps(records, "writer")}
    if unknown := found.keys() - appended.keys():
        yield f"batches {sorted(unknown)} were never appended"
    for batch, step in appended.items():
        there = sorted(found.get(batch, []))
        if problem := _problem(step, deletes[batch], there):
            yield f"batch {batch}, whose append is {step.outcome}: {problem}"
        elif there and not _is_whole(step, rows.filter(pc.equal(rows["batch"], batch))):
            yield f"batch {batch}: its rows have other values in some column"


def _is_whole(step: Step, rows: pa.Table) -> bool:
    """Whether rows of a batch have the values of all columns that they were appended with."""
    every = rows_of(step.batch, step.end)
    places = {row: at for at, row in enumerate(zip(*_keys(every), strict=True))}
    wanted = every.take(pa.array([places[row] for row in zip(*_keys(rows), strict=True)]))
    return all(
        identical(one, other)
        for one, other in zip(
            rows.combine_chunks().to_batches(), wanted.combine_chunks().to_batches(), strict=True
        )
    )


def _keys(rows: pa.Table) -> list[list[Any]]:
    return [rows[name].to_pylist() for name in ("pair", "value")]


def _problem(step: Step, deletes: list[Step], found: list[Row]) -> str | None:
    if step.outcome == "refused" or (step.outcome == "open" and not found):
        return "it is there" if found else None
    rows = rows_of(step.batch, step.end)
    every = list(zip(*(rows[name].to_pylist() for name in PLAIN[1:]), strict=True))
    gone = [each for each in deletes if each.outcome == "landed"]
    doubtful = [each for each in deletes if each.outcome == "open"]
    possible = {row for row in every if not any(_hits(each, row[0]) for each in gone)}
    certain = {row for row in possible if not any(_hits(each, row[0]) for each in doubtful)}
    if lost := len(certain - {*found}):
        return f"{lost} rows are lost"
    if not {*found} <= possible or len(found) > len({*found}):
        return "it has rows that were deleted, or that never were, or twice"
    return None


def _hits(delete: Step, pair: int) -> bool:
    return delete.first <= pair < delete.end


def _judge_files(place: StoreAddress, database: colonnade.ArrowDatabase) -> Iterator[str]:
    """Whether a file is there that no RowSet of the newest epoch names."""
    log, tables = database._log, database._snapshot.tables.values()
    named = {name for t in tables for each in log.rowsets.read(t) for name in each.objects()}
    for name in _files_in_bucket(place) if "://" in place.url else _files_on_disk(place):
        file = PurePosixPath(name)
        if file.name.startswith(".tmp-"):
            yield f"{file} is an unfinished file"
        elif "_manifest" not in file.parts and not named & {file.stem, file.parent.name}:
            yield f"{file} belongs to no RowSet"


def _files_on_disk(place: StoreAddress) -> Iterator[str]:
    """Yield the names of all files, as the disk shows them."""
    for file in Path(place.url).rglob("*"):
        if not file.is_dir():
            yield str(file)


def _files_in_bucket(place: StoreAddress) -> Iterator[str]:
    """Yield the keys of all objects and unfinished uploads, as the server shows them."""
    bucket, _, prefix = place.url.removeprefix("s3://").partition("/")
    client = plain_client(place.connection_options["endpoint_url"])
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    for page in pages:
        yield from (each["Key"] for each in page.get("Contents", ()))
    for each in client.list_multipart_uploads(Bucket=bucket).get("Uploads", ()):
        yield f"{each['Key']}/.tmp-{each['UploadId']}"
