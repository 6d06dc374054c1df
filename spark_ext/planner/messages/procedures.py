"""Requests about procedures, and about the planner itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.spark_ext.planner.messages.base import Message, OneTimeRequest, Question


class Describe(Question):
    """Describe this planner, which also sends that before the first request."""


class Description(Message):
    """A planner and the Python that runs it."""

    version: str
    protocol: int
    pid: int
    python: str


class ListProcedures(Question):
    """Describe all procedures, by name."""


class Parameter(Message):
    """One parameter, with a Spark type in DDL; an `optional` argument that is left out is None."""

    name: str
    type: str
    optional: bool
    description: str


class Procedure(Message):
    """A procedure; `columns` has the columns of its result, in DDL."""

    description: str
    columns: str
    parameters: tuple[Parameter, ...]


class ProcedureList(Message):
    """All procedures, by name."""

    procedures: Mapping[str, Procedure]


class CallProcedure(OneTimeRequest):
    """Call a procedure; the arguments `table` and `database` are paths."""

    name: str
    arguments: Mapping[str, Any]
