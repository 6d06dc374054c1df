"""Predicates: which rows a scan returns, and which data it need not read for that.

parse_predicate, col -> Predicate --bind--> BoundPredicate -> prune      (bounds)
                         |                                 -> evaluate   (rows)
                         to_json, from_json
"""

from tableformat.predicate.bind import bind
from tableformat.predicate.bound import BoundPredicate, complement
from tableformat.predicate.builder import ColumnBuilder, col
from tableformat.predicate.evaluate import evaluate
from tableformat.predicate.expressions import Predicate
from tableformat.predicate.json_form import from_json, to_json
from tableformat.predicate.prune import prune
from tableformat.predicate.sql import Where, parse_predicate

__all__ = [
    "BoundPredicate",
    "ColumnBuilder",
    "Predicate",
    "Where",
    "bind",
    "col",
    "complement",
    "evaluate",
    "from_json",
    "parse_predicate",
    "prune",
    "to_json",
]
