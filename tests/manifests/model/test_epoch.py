"""A slot of the log contains only keys that the specification names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from colonnade.manifests.model.epoch import Epoch, EpochIdentity, FreedBlock
from colonnade.manifests.model.operations import DropTable

SPEC = Path(__file__).parents[3] / "docs" / "spec" / "epoch-log.md"
EPOCH = Epoch(
    epoch=2,
    transaction="a" * 32,
    previous="c" * 32,
    base=1,
    time_ms=7,
    operation="append",
    parameters={"mode": "ERROR"},
    engine="e",
    metrics={"rows": 3},
    ops=(DropTable(table="0123456789abcdef"),) * 2,
)
CONTENTS = (
    EPOCH,
    FreedBlock(freed=0),
)


@pytest.mark.parametrize("content", CONTENTS)
def test_the_content_of_a_slot_survives_json(content: Any) -> None:
    text = content.model_dump_json(exclude_none=True)
    assert type(content).model_validate_json(text) == content


@pytest.mark.parametrize("content", CONTENTS)
def test_a_key_that_a_newer_version_wrote_is_refused(content: Any) -> None:
    with pytest.raises(ValidationError, match="newer"):
        type(content).model_validate({**content.model_dump(exclude_none=True), "newer": 1})


@pytest.mark.parametrize("kind", [Epoch, FreedBlock])
def test_the_specification_names_every_key(kind: Any) -> None:
    named = set(re.findall(r'[`"](\w+)[`"]', SPEC.read_text()))
    assert set(kind.model_fields) <= named


def test_the_identity_of_an_epoch_is_read_whatever_else_its_file_holds() -> None:
    identity = EpochIdentity.model_validate({**EPOCH.model_dump(), "newer": 1})
    assert identity.transaction == EPOCH.transaction


@pytest.mark.parametrize(
    "fields",
    [
        {"format_version": 2},
        {"transaction": "A" * 32},
        {"transaction": "a" * 31},
        {"time_ms": -1},
        {"epoch": 2**53},
        {"metrics": {"rows": -3}},
    ],
)
def test_values_beyond_the_limits_of_the_specification_are_refused(
    fields: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        Epoch.model_validate({**EPOCH.model_dump(), **fields})
