"""The result of a vacuum as a sentence and as JSON."""

from __future__ import annotations

import json

from colonnade.manifests.vacuum.result import RemovedFile, VacuumResult

FILES = (RemovedFile("t/a.rowset", 100), RemovedFile("t/b.dv", 20))


def test_a_result_is_a_sentence_for_people() -> None:
    result = VacuumResult(False, 9, 7, 3, FILES, kept_epochs=(1, 4), held_by=("pin 'x'",))
    assert str(result) == (
        "Removed 2 files of 120 bytes and 3 epochs; the oldest readable epoch is 7."
        " Kept besides: epochs 1, 4. More is kept because of the pin 'x'."
    )


def test_a_dry_run_does_not_say_that_it_removed_anything() -> None:
    result = VacuumResult(True, None, 7, 3, FILES)
    assert str(result).startswith("Would remove 2 files")


def test_a_result_is_json_with_its_sum() -> None:
    plain = json.loads(json.dumps(VacuumResult(False, 9, 7, 3, FILES).to_json()))
    assert plain["bytes_removed"] == 120
    assert plain["files"][0] == {"name": "t/a.rowset", "bytes": 100}
