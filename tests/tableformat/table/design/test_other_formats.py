"""Properties and options of other formats are taken with a notice or refused, and never stored."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.notices import listening
from colonnade.tableformat.table.design.other_formats import (
    PEER_OPTIONS,
    PEER_WORDS,
    peer_word,
    without_peer_words,
)
from colonnade.tableformat.table.design.properties import checked_properties

SCHEMA = pa.schema([("id", pa.int64())])
WORDS = [word.replace("*", "something") for word in PEER_WORDS]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("value", ["true", "false", "zstd", "10"])
def test_a_word_of_a_peer_is_refused_or_left_out_with_a_notice(word: str, value: str) -> None:
    with listening() as heard:
        try:
            assert checked_properties({word: value, "owner": "Ann"}) == {"owner": "Ann"}
        except InvalidInputError as refused:
            sentences = [str(refused)]
        else:
            sentences = heard
    assert len(sentences) == 1
    assert f"'{word}' of another format" in sentences[0]


def test_neither_create_nor_alter_stores_a_word_of_a_peer(tmp_path: Path) -> None:
    with listening() as heard:
        properties = {"optimizeWrite": "true", "owner": "Ann"}
        table = colonnade.create(tmp_path / "t", SCHEMA, properties=properties)
        table.alter(colonnade.AlterProperties({"write.parquet.page-size-bytes": "1", "team": "b"}))
    assert len(heard) == 2
    assert dict(table._state.properties) == {"owner": "Ann", "team": "b"}
    epoch = table.epoch
    with pytest.raises(InvalidInputError, match="promises"):
        table.alter(colonnade.AlterProperties({"delta.appendOnly": "true"}))
    assert table.epoch == epoch


def test_a_word_that_tunes_warns_a_user_of_python_and_names_the_word_to_use(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no effect here and is not stored: .*targetFileSize"):
        colonnade.create(tmp_path / "t", SCHEMA, properties={"delta.targetFileSize": "1g"})


@pytest.mark.parametrize(
    ("word", "value", "advice"),
    [
        ("delta.appendOnly", "true", "no property forbids deletes"),
        ("Delta.EnableRowTracking", "TRUE", "use a primary key"),
        ("delta.logRetentionDuration", "interval 30 days", "retention.hours"),
        ("delta.constraints.positive", "id > 0", "ADD CONSTRAINT"),
        ("delta.nobodyKnowsThis", "1", "leave it out"),
        ("write.wap.enabled", "true", "leave it out"),
        ("gc.enabled", "false", "tag"),
        ("hoodie.table.name", "t", "leave it out"),
    ],
)
def test_a_word_that_promises_something_is_refused_with_what_to_do(
    word: str, value: str, advice: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"'{word}' .* promises .*{advice}"):
        without_peer_words({word: value}, "Property")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("delta.appendOnly", " False "),
        ("gc.enabled", "true"),
        ("delta.columnMapping.mode", "name"),
        ("Delta.EnableChangeDataFeed", "TRUE"),
    ],
)
def test_a_promise_that_each_table_keeps_or_that_is_none_is_taken(word: str, value: str) -> None:
    with listening() as heard:
        assert without_peer_words({word: value, "mine": "1"}, "Property") == {"mine": "1"}
    assert len(heard) == 1


def test_a_word_that_is_an_option_only_may_be_a_property_of_a_user() -> None:
    for word in PEER_OPTIONS:
        assert peer_word(word.replace("*", "x"), "Property") is None
        assert peer_word(word.replace("*", "x"), "Option") is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert without_peer_words({"branch": "Kiel"}, "Property") == {"branch": "Kiel"}


@pytest.mark.parametrize("name", ["commit.author", "read.by", "reading", "community"])
def test_a_property_of_a_user_may_begin_as_those_of_a_peer_do(name: str) -> None:
    assert peer_word(name, "Property") is None


@pytest.mark.parametrize("word", ["delta.nobodyKnowsThis", "write.wap.enabled", "hoodie.x"])
def test_an_unknown_word_of_a_peer_is_called_unknown(word: str) -> None:
    with pytest.raises(InvalidInputError, match="promises what Colonnade does not know: leave it"):
        without_peer_words({word: "1"}, "Property")


def test_the_longest_word_counts_and_each_advice_ends_a_sentence() -> None:
    found = peer_word("delta.feature.columnMapping", "Property")
    assert found is not None
    assert found.kind == "kept"
    unknown = peer_word("delta.feature.rowTracking", "Property")
    assert unknown is not None
    assert unknown.kind == "promises"
    assert not [
        each for each in (*PEER_WORDS.values(), *PEER_OPTIONS.values()) if each.advice[-1] == "."
    ]
