"""Predicates: which rows a scan returns, and which data it can skip.

    parse_predicate, col -> Predicate --bind--> BoundPredicate -> prune      (bounds)
                             |                                 -> evaluate   (rows)
                             to_json, from_json

    expressions.py  bound.py    the tree before and after its columns are resolved
    builder.py  sql.py  grammar/    predicates from Python and from SQL text
    values/    values that are computed from a row, by type rules and functions
    literals.py  times.py  like.py    constants and patterns
    literal_text.py    constants and names as SQL, for people
    implied_predicate.py  what a predicate says about some columns alone
    regions.py  exact_regions.py    rows between bounds as a predicate, and the other way round
    foreign/    predicates from expressions of Arrow and Polars
    bind.py  bind_literals.py  storage.py    a tree with its columns resolved
    prune.py  evaluate.py  json_form.py    what is done with a tree

Guide: docs/expressions.md
"""

from colonnade.tableformat.predicate.bind import bind
from colonnade.tableformat.predicate.bound import BoundPredicate, complement
from colonnade.tableformat.predicate.builder import ColumnBuilder, col
from colonnade.tableformat.predicate.evaluate import evaluate
from colonnade.tableformat.predicate.expressions import Predicate
from colonnade.tableformat.predicate.json_form import from_json, to_json
from colonnade.tableformat.predicate.prune import prune
from colonnade.tableformat.predicate.sql import Where, parse_predicate, text_of

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
    "text_of",
    "to_json",
]
