"""A table of another format is known by its log alone, on disk as in a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.manifests.log.other_formats import format_of, log_part

LOGS = {
    "_delta_log/00000000000000000000.json": "Delta Lake",
    ".hoodie/hoodie.properties": "Hudi",
    "metadata/00000-1f2e.metadata.json": "Iceberg",
    "metadata/v3.gz.metadata.json": "Iceberg",
    "metadata/v3.metadata.json.gz": "Iceberg",
    "metadata/version-hint.text": "Iceberg",
    "snapshot/snapshot-1": "Paimon",
    "snapshot/LATEST": "Paimon",
}
NO_LOGS = ("a.parquet", "metadata/owners.json", "snapshot/january.txt", "x/_delta_log/0.json")


@pytest.mark.parametrize(("name", "expected"), [*LOGS.items(), *((n, None) for n in NO_LOGS)])
def test_a_format_is_known_by_a_name_in_its_log_and_by_no_other_name(
    tmp_path: Path, name: str, expected: str | None
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).touch()
    found = format_of(str(tmp_path))
    assert (None if found is None else found.name) == expected
    assert (log_part(name) is not None) == (expected is not None)


def test_a_file_with_the_name_of_a_folder_for_logs_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").touch()
    assert format_of(str(tmp_path)) is None
