"""What properties ask of compaction, and how a wrong one is refused."""

from __future__ import annotations

import pytest

from colonnade.manifests.compaction.policy import (
    PREFIX,
    CompactionPolicy,
    check_policy,
    parse_policy,
)
from colonnade.manifests.errors import InvalidInputError


def test_without_properties_everything_has_its_default() -> None:
    assert parse_policy({"owner": "me"}) == CompactionPolicy()


@pytest.mark.parametrize(
    ("text", "count"),
    [("7", 7), ("64kb", 2**16), ("128 MiB", 2**27), ("2g", 2**31), ("1TB", 2**40), ("5b", 5)],
)
def test_sizes_are_read_with_binary_units(text: str, count: int) -> None:
    assert parse_policy({"compaction.target-bytes": text}).target_bytes == count


def test_options_come_before_properties_and_may_leave_out_the_prefix() -> None:
    properties = {"compaction.deleted-share": "0.5", "compaction.min-rowsets": "3"}
    policy = parse_policy(properties, {"deleted-share": "0", "auto": "TRUE"})
    assert policy == CompactionPolicy(deleted_share=0.0, min_rowsets=3, auto=True)
    assert parse_policy({"compaction.run-bytes": "none"}).run_bytes is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5 minutes", 300), ("1 day", 86_400), ("12h", 43_200), ("Always", 0), ("never", None)],
)
def test_a_schedule_is_a_time_between_rounds_and_no_option_of_one_run(
    text: str, seconds: int | None
) -> None:
    assert parse_policy({"compaction.schedule": text}).schedule == seconds
    for name in ("schedule", "compaction.schedule"):
        with pytest.raises(InvalidInputError, match="cannot be an option of one run"):
            parse_policy({}, {name: text})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("target-bytes", "0"),
        ("target-bytes", "many"),
        ("target-bytes", "1.5gb"),
        ("min-rowsets", "1"),
        ("deleted-share", "1.01"),
        ("deleted-share", "nan"),
        ("max-overlap", "0"),
        ("run-bytes", "-1"),
        ("auto", "yes"),
        ("schedule", "0 days"),
        ("schedule", "0 3 * * *"),
    ],
)
def test_an_impossible_value_is_refused_with_the_values_that_are_allowed(
    name: str, text: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"'{PREFIX}{name}' must be (a|true)") as caught:
        check_policy({PREFIX + name: text})
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("name", ["target-size", "min_rowsets", ""])
def test_an_unknown_property_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"no property .*compaction\.min-rowsets"):
        check_policy({PREFIX + name: "8"})
