"""Ids: their patterns, and how new ones are made.

The log contains no paths. `object_names.py` builds paths from the ids here. A reader refuses an id
that does not match its pattern, so a forged log cannot point outside its database.
"""

from __future__ import annotations

import re
import secrets
from typing import NewType

TableId = NewType("TableId", str)
"""16 lowercase hex digits, random; never reused."""

ObjectId = NewType("ObjectId", str)
"""32 lowercase hex digits: the 16 digits of the writing job's id, then 16 random digits."""

TransactionId = NewType("TransactionId", str)
"""32 lowercase hex digits, random; made once for a change and reused each time it is re-sent."""

TABLE_ID = re.compile(r"[0-9a-f]{16}", re.ASCII)
OBJECT_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
TRANSACTION_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_table_id() -> TableId:
    """Make a random table id."""
    return TableId(secrets.token_hex(8))


def new_job_id() -> str:
    """Make a random job id: 16 hex digits. The ids of all objects of the job begin with it."""
    return secrets.token_hex(8)


def new_object_id(job_id: str) -> ObjectId:
    """Make the id of a new object of the job `job_id`."""
    return ObjectId(job_id + secrets.token_hex(8))


def job_id_of(object_id: str) -> str:
    """Return the id of the job that wrote an object."""
    return object_id[:16]


def new_transaction_id() -> TransactionId:
    """Make a random transaction id."""
    return TransactionId(secrets.token_hex(16))
