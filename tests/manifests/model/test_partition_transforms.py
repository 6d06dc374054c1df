"""Each transform has a row, one way to be computed in both languages, and a golden vector."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.partition_transforms import BY_ANY_NAME, TRANSFORMS
from colonnade.tableformat.partition.transforms import COMPUTED, OF_BOUNDS

ROOT = Path(__file__).parents[3]
JAVA = ROOT / "spark_ext/java/src/colonnade/format/PartitionTransform.java"


def test_each_transform_is_computed_in_python_and_in_the_jar() -> None:
    assert list(COMPUTED) == list(TRANSFORMS)
    constants = re.findall(r"^  ([A-Z_]+)(?:\(.*\))? \{$", JAVA.read_text("utf-8"), re.MULTILINE)
    assert [each.lower() for each in constants] == list(TRANSFORMS)


def test_a_transform_that_scatters_values_is_also_computed_of_the_values_of_a_predicate() -> None:
    assert set(OF_BOUNDS) == {each.name for each in TRANSFORMS.values() if each.scatters}


def test_a_transform_has_one_meaning_by_each_of_its_names() -> None:
    names = [name for each in TRANSFORMS.values() for name in (each.name, *each.other_names)]
    assert len(names) == len(set(names)) == len(BY_ANY_NAME)


def test_each_transform_has_golden_vectors() -> None:
    vectors = json.loads((ROOT / "tests/spec/partition_vectors.json").read_text("utf-8"))
    assert {each["transform"] for each in vectors} == set(TRANSFORMS)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_log_takes_an_argument_exactly_where_the_transform_has_one(name: str) -> None:
    has_argument = TRANSFORMS[name].example is not None
    right, wrong = (4, None) if has_argument else (None, 4)
    assert PartitionField(transform=name, column=1, argument=right).transform == name
    with pytest.raises(ValueError, match=f"{name} has {'an' if has_argument else 'no'} argument"):
        PartitionField(transform=name, column=1, argument=wrong)
