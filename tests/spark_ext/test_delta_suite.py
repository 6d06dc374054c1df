"""Delta Lake's own suite of its Python tables: which of its tests pass here, and why others do not.

The file is not in this repository. `COLONNADE_DELTA_SUITE` names it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = os.environ.get("COLONNADE_DELTA_SUITE", "")

PASSING = {
    "test_alias_and_toDF",
    "test_cluster_by_bad_args",
    "test_create_replace_table_with_cluster_by",
    "test_create_replace_table_with_no_spark_session_passed",
    "test_create_table_behavior",
    "test_create_table_with_cluster_by",
    "test_create_table_with_existing_schema",
    "test_create_table_with_identity_column",
    "test_create_table_with_location_only",
    "test_create_table_with_name_and_location",
    "test_create_table_with_name_only",
    "test_delete",
    "test_detail",
    "test_forName",
    "test_forPath",
    "test_isDeltaTable",
    "test_merge_with_inconsistent_sessions",
    "test_replace_table_behavior",
    "test_replace_table_with_cluster_by",
    "test_replace_table_with_location_only",
    "test_replace_table_with_name_and_location",
    "test_replace_table_with_name_only",
    "test_restore_to_timestamp",
    "test_restore_to_version",
    "test_update",
}

FAILING = {
    "test_addFeatureSupport": "no attribute 'addFeatureSupport'",
    "test_cdc": "use the option readChangeFeed",
    "test_convertToDelta": "no attribute 'convertToDelta'",
    "test_create_table_geo_types": "which Colonnade cannot store",
    "test_delta_table_builder_with_bad_args": "InvalidInputError not raised",
    "test_dropFeatureSupport": "no attribute 'addFeatureSupport'",
    "test_forPathWithOptions": "a local path, which takes no storage options",
    "test_generate": "no attribute 'generate'",
    "test_history": "operation='CREATE TABLE AS SELECT'",
    "test_merge": "with name `extra` cannot be resolved",
    "test_optimize": "1 != 0",
    "test_optimize_w_partition_filter": "1 != 0",
    "test_optimize_zorder_by": "with name `_metadata`.`file_path` cannot be resolved",
    "test_optimize_zorder_by_w_partition_filter": "with name `_metadata`.`file_path` cannot be",
    "test_protocolUpgrade": "no attribute 'upgradeTableProtocol'",
    "test_restore_invalid_inputs": "version needs to be an int but got",
    "test_vacuum": "would remove epochs of the last 168 hours",
    "test_verify_paritionedBy_compatibility": "no attribute '_jbuilder'",
}
"""Part of the error of each other test. `docs/coming-from-delta.md` has the reasons."""


@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not FILE, reason="COLONNADE_DELTA_SUITE names no test_deltatable.py of Delta")
def test_each_test_of_delta_ends_as_the_lists_say(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "tests.spark_ext.delta_suite", str(Path(FILE).resolve())]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    errors: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    unknown = errors.keys() ^ PASSING ^ FAILING.keys()
    assert unknown == set(), "the file is of another version of Delta Lake"
    failed = {name: error for name, error in errors.items() if error is not None}
    assert failed.keys() == FAILING.keys(), failed
    for name, part in FAILING.items():
        assert part in failed[name], name


def test_the_page_has_the_reason_for_each_test_that_fails_and_the_number_of_those_that_pass() -> (
    None
):
    page = (ROOT / "docs" / "coming-from-delta.md").read_text("utf-8")
    _, _, section = page.partition("\n## Delta's own tests\n")
    reasons = dict(re.findall(r"^\| `(\w+)` \| (.+\.) \|$", section, re.MULTILINE))
    assert {f"test_{name}" for name in reasons} == FAILING.keys()
    total = len(PASSING) + len(FAILING)
    assert f"{len(PASSING)} of its {total} tests" in " ".join(section.split())
