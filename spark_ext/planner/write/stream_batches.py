"""Answer the Java source's requests about streams that write: what they may write, and where.

Each batch of a stream is an ordinary write of a DataFrame, whose options `txnAppId` and
`txnVersion` are the id of the stream and the number of the batch.
"""

from __future__ import annotations

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options.names import STREAM, WRITING
from colonnade.spark_ext.options.write import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.writes import CheckStream, StreamTarget
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.write.base import base_of

_DECIDED = {
    "txnAppId": "the stream names each batch by its own id and the number of the batch",
    "txnVersion": "the stream names each batch by its own id and the number of the batch",
    "expectEpoch": "each batch is an epoch of its own",
    "replaceWhere": "the output mode says what a batch replaces",
    "partitionOverwriteMode": "the output mode says what a batch replaces",
    "overwriteSchema": "the output mode says what a batch replaces",
}
"""Options of a write that the stream decides itself, and how."""

_OF_READING = {name.casefold(): name for name in STREAM if name not in WRITING}


@operation
def check_stream(request: CheckStream) -> StreamTarget:
    """Raise InvalidInputError for wrong options, and for updates of a table without a key.

    Raise ConflictError if the table that the stream has written to was dropped, renamed or
    replaced.
    """
    given = {name.casefold() for name in request.options}
    for name, reason in _DECIDED.items():
        if name.casefold() in given:
            raise InvalidInputError(
                f"Option {name} is not for writeStream: {reason}; leave it out."
            )
    for key in sorted(given & _OF_READING.keys()):
        raise InvalidInputError(
            f"Option {_OF_READING[key]} is not for writeStream: it says what a stream reads; set it"
            " in readStream."
        )
    options = parse_write_options({**request.options, "path": request.path})
    location, state = base_of(place(options.path, options.storage), None)
    table = None if state is None else location.find(state)
    target = StreamTarget()
    if state is not None and table is not None:
        query, number = request.query, request.number
        landed = query is not None and number is not None and table.has_batch(query, number)
        target = StreamTarget(database=state.database, table=table.id, landed=landed)
    known = request.known
    if known is not None and (known.database, known.table) != (target.database, target.table):
        raise ConflictError(
            f"Table {location.url} was dropped, renamed or replaced while a stream wrote to it;"
            " start the stream again, and name the table that it should write to."
        )
    if request.mode == "update":
        _check_updates(options, location.url, table)
    return target


def _check_updates(options: SparkWriteOptions, url: str, table: TableState | None) -> None:
    """Refuse updates of a table, or of one that the stream creates, without a primary key."""
    if options.settings.on_duplicate is not None:
        raise InvalidInputError(
            "Output mode update always merges rows by the primary key; leave out the option"
            " onDuplicate."
        )
    if options.primary_key if table is None else table.primary_key:
        return
    advice = (
        "name its columns in the option primaryKey"
        if table is None
        else "set it by ALTER TABLE … SET TBLPROPERTIES ('primaryKey' = …)"
    )
    raise InvalidInputError(
        f"Output mode update merges rows by the primary key, which table {url} does not have;"
        f" {advice}, or merge each batch in foreachBatch."
    )
