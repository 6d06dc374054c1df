"""What a predicate implies about some columns is TRUE wherever the predicate is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import Predicate, bind, parse_predicate
from colonnade.tableformat.predicate.expressions import TRUE
from colonnade.tableformat.predicate.implied_predicate import implied
from tests.tableformat.predicate.oracle import Oracle, random_predicate, random_value

TYPES = {"a": "int", "b": "string", "c": "double", "d": "long"}
SCHEMA = TableSchema(
    fields=tuple(
        SchemaField(id=at, name=name, type=kind) for at, (name, kind) in enumerate(TYPES.items(), 1)
    )
)


def about(predicate: Predicate, *names: str) -> Predicate:
    return implied(predicate, SCHEMA, {SCHEMA.field(name).id for name in names})


@given(seed=st.integers(0, 2**32), names=st.sets(st.sampled_from([*TYPES])))
def test_it_reads_the_named_columns_and_is_true_wherever_the_predicate_is(
    seed: int, names: set[str]
) -> None:
    rng, oracle = random.Random(seed), Oracle(TYPES)
    predicate = random_predicate(rng, TYPES)
    found = about(predicate, *names)
    bind(found, SCHEMA.select([name for name in TYPES if name in names]))
    for _ in range(20):
        row = {n: None if rng.random() < 0.2 else random_value(rng, k) for n, k in TYPES.items()}
        if oracle.truth(predicate, row):
            assert oracle.truth(found, row)


@pytest.mark.parametrize(
    ("where", "rest"),
    [
        ("b = 'x' AND d > 1", "b = 'x'"),
        ("NOT (b = 'x' OR d > 1)", "NOT (b = 'x')"),
        ("(b = 'x' AND d = 1) OR (b = 'y' AND d = 2)", "b = 'x' OR b = 'y'"),
        ("a = 1 OR b = 'x'", "true"),
        ("a = d", "true"),
    ],
)
def test_conditions_on_other_columns_allow_every_row(where: str, rest: str) -> None:
    found = bind(about(parse_predicate(where), "b"), SCHEMA)
    wanted = TRUE if rest == "true" else parse_predicate(rest)
    assert found == bind(wanted, SCHEMA)
