"""Options are parsed once into types, and unknown options are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.options.names import EVOLVING
from colonnade.spark_ext.options.read import ReadOptions, epoch_or_tag, parse_read_options
from colonnade.spark_ext.options.write import (
    SparkWriteOptions,
    parse_write_options,
    refuse_evolving,
)
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings


def read(**options: str) -> ReadOptions:
    return parse_read_options({"path": "/t", **options})


def write(**options: str) -> SparkWriteOptions:
    return parse_write_options({"path": "/t", **options})


def test_a_path_alone_is_all_that_options_need() -> None:
    assert read() == ReadOptions("/t")
    assert write() == SparkWriteOptions("/t", WriteSettings())


@pytest.mark.parametrize("name", ["versionAsOf", "versionasof", "epoch", "EPOCH"])
def test_an_epoch_has_two_names_in_any_case(name: str) -> None:
    assert read(**{name: " 12 "}).epoch == 12
    assert read(**{name: "0"}).epoch == 0


def test_the_other_options_of_a_read() -> None:
    assert read(timestampAsOf="2026-01-31", where="a > 1") == ReadOptions(
        "/t", timestamp="2026-01-31", where="a > 1"
    )


@pytest.mark.parametrize("name", ["v1", "2026-q1", "né", "2026-11-22", "1.5"])
def test_a_version_that_is_not_a_number_is_a_tag(name: str) -> None:
    assert read(versionAsOf=name) == ReadOptions("/t", tag=name)
    assert epoch_or_tag(name) == (None, name)


def test_a_version_in_text_is_an_epoch_where_it_is_a_number() -> None:
    assert [epoch_or_tag(version) for version in (7, "7", " 7 ")] == [(7, None)] * 3


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("4096", 4096), ("64m", 2**26), ("64 MB", 2**26), ("1g", 2**30)]
)
def test_a_file_size_is_bytes_or_has_a_unit(text: str, size: int) -> None:
    assert write(targetFileSize=text).settings.target_bytes == size


def test_the_other_options_of_a_write() -> None:
    options = write(
        maxRecordsPerFile="10",
        leaseHours="1.5",
        userMetadata="nightly",
        txnAppId="job",
        txnVersion="7",
        expectEpoch="3",
        replaceWhere="a > 1",
        overwriteSchema="True",
    )
    assert options.overwrite_schema
    assert (options.settings.max_records, options.settings.lease_hours) == (10, 1.5)
    assert options.commit == CommitSettings(batch=("job", 7), expect_epoch=3, metadata="nightly")
    assert options.replace_where == "a > 1"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"versionAsOf": "1", "epoch": "1"}, "versionAsOf and epoch mean the same"),
        ({"versionAsOf": "1", "timestampAsOf": "2026-01-01"}, "versionAsOf and timestampAsOf"),
        ({"epoch": "1", "timestampAsOf": "2026-01-01"}, "epoch and timestampAsOf exclude"),
        ({"epoch": "-1"}, "Option epoch must be a whole number from 0, not '-1'"),
        ({"versionAsOf": "t", "timestampAsOf": "2026-01-01"}, "versionAsOf and timestampAsOf"),
        ({"epoch": "t"}, "Option epoch must be a whole number"),
        ({"versionAsOf": "-1"}, "Option versionAsOf must be a whole number from 0, not '-1'"),
        ({"versionAsOf": "٣"}, "Option versionAsOf must be a whole number"),
        ({"epoch": ""}, "Option epoch must be a whole number"),
        ({"timestampAsOf": "yesterday"}, "'yesterday' is not a time"),
        ({"versionAsOff": "1"}, "'versionasoff' is unknown; did you mean versionAsOf?"),
        ({"mergeSchema": "true"}, "mergeSchema is not for reading"),
        ({"maxRecordsPerFile": "5"}, "maxRecordsPerFile is not for reading"),
        ({"paths": '["/a","/b"]'}, "one table at a time"),
        ({"path": ""}, "No path was given"),
        ({"owner": "me"}, "table in a catalog needs the jar, which colonnade.enable"),
    ],
)
def test_a_wrong_read_is_refused_naming_the_option(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read(**options)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"where": "a > 1"}, "Option where is not for writing"),
        ({"targetFileSize": "0"}, "Option targetFileSize must be a number of bytes"),
        ({"targetFileSize": "10 parsecs"}, "Option targetFileSize must be a number of bytes"),
        ({"maxRecordsPerFile": "0"}, "maxRecordsPerFile must be a whole number from 1"),
        ({"overwriteSchema": "yes"}, "Option overwriteSchema must be true or false, not 'yes'"),
        ({"mergeSchema": "maybe"}, "Option mergeSchema must be true or false, not 'maybe'"),
        ({"mergeSchema": "true", "ignoreUnknownColumns": "true"}, "exclude each other"),
        ({"mergeSchema": "true", "overwriteSchema": "true"}, "mergeSchema and overwriteSchema"),
        ({"ignoreUnknownColumns": "true", "overwriteSchema": "true"}, "exclude each other"),
        ({"txnAppId": "job"}, "give both"),
        ({"txnVersion": "1"}, "give both"),
        ({"txnAppId": "job", "txnVersion": "-1"}, "txnVersion must be a whole number from 0"),
        ({"expectEpoch": "new"}, "expectEpoch must be a whole number from 0"),
        ({"maxRecordPerFile": "9"}, "did you mean maxRecordsPerFile?"),
    ],
)
def test_a_wrong_write_is_refused_naming_the_option(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        write(**options)
    assert sentence in str(caught.value)


def test_a_relative_path_is_refused_where_spark_connect_would_lose_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = tmp_path / "765c65aa-67d8-475c-9dfa-79a15a6a540b"
    session.mkdir()
    monkeypatch.chdir(session)
    assert parse_write_options({"path": "trips"}).path == "trips"
    monkeypatch.setenv("SPARK_JOB_ARTIFACT_UUID", session.name)
    with pytest.raises(InvalidInputError, match="'trips' is a relative path"):
        parse_write_options({"path": "trips"})
    for path in ("/data/trips", "~/trips", "file:/data/trips", "s3://bucket/trips"):
        assert parse_read_options({"path": path}).path == path


@pytest.mark.parametrize("name", EVOLVING)
def test_the_source_without_the_jar_refuses_what_only_the_jar_carries_out(name: str) -> None:
    refuse_evolving(parse_write_options({"path": "/t", name: "false"}))
    with pytest.raises(InvalidInputError, match=f"Option {name} needs the jar"):
        refuse_evolving(parse_write_options({"path": "/t", name: "true"}))
