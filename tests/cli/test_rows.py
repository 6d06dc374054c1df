"""Rows come in and go out unchanged, and Spark is started for large work only.

Files of tables of other formats are refused, because they hold deleted rows.
"""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import colonnade
from colonnade.cli.app import app
from colonnade.cli.engine import choose_engine
from colonnade.cli.exit_codes import MissingError
from tests.cli.runner import SCHEMA, Run, order_rows, run_command

ROOT = Path(__file__).parents[2]


def rows_of(path: Path) -> list[dict[str, object]]:
    return colonnade.open(path).scan().to_arrow().sort_by("id").to_pylist()


def test_the_first_rows_are_printed_as_they_are(run: Run, shop: Path) -> None:
    plain = run("head", shop / "orders", "-n", 1, "--where", "id = 7").out
    assert plain.splitlines()[1].split() == [
        *("7", "2026-01-08", "1.75", "2026-01-01", "12:00:00+00:00", "[bold]a"),
    ]
    (row,) = run(
        "head", shop / "orders", "--where", "id = 5", "--columns", "name,price", "--json"
    ).json
    assert row == {"name": None, "price": "1.25"}
    assert len(run("head", shop / "orders", "--limit", 12, "--json").json) == 12
    assert len(run("head", shop / "orders", "--limit", 10**20, "--json").json) == 28


def test_changes_are_printed_as_json_lines(run: Run, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.table({"k": [1, 2], "s": ["a", "b"]}))
    table.update({"s": "'c'"}, "k = 2")
    first = table.epoch
    table.delete("k = 1")

    def told(*options: object) -> list[list[object]]:
        lines = run("changes", table.path, *options).out.splitlines()
        rows = [orjson.loads(line) for line in lines]
        return [[row["_commit_version"], row["_change_type"], row.get("s")] for row in rows]

    pair = [[first, "update_preimage", "b"], [first, "update_postimage", "c"]]
    assert told("--from", first) == [*pair, [first + 1, "delete", "a"]]
    assert told("--from", first, "--to", first) == pair
    assert told("--from", "2001-01-01", "--net", "--columns", "k", "--where", "k = 1") == []
    assert len(told("--from", 0, "--where", "_change_type = 'delete'", "--columns", "k")) == 1
    document = run("changes", table.path, "--from", first, "--json").json
    assert [row["_change_type"] for row in document] == [*(each[1] for each in pair), "delete"]
    failed = run("changes", table.path, "--from", 99)
    assert failed.code
    assert "the newest epoch is" in failed.err
    refused = run("changes", table.path, "--from", first, "--json", "--follow")
    assert "leave --json out" in refused.err + refused.out


@pytest.mark.slow
def test_changes_are_followed_until_the_command_is_interrupted(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.table({"k": [1]}))
    command = [sys.executable, "-m", "colonnade", "changes", table.path, "--from", "0", "-f"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert orjson.loads(process.stdout.readline())["k"] == 1
        for key in (2, 3):
            table.append([{"k": key}])
            assert orjson.loads(process.stdout.readline())["k"] == key
        process.send_signal(signal.SIGINT)
        assert process.wait(60)
        assert b"Traceback" not in process.stderr.read()


def test_values_that_python_has_no_type_for_are_printed(run: Run, tmp_path: Path) -> None:
    far, fine = pa.array([3_500_000], pa.date32()), pa.array([1_234_567_891], pa.time64("ns"))
    rows = pa.table(
        {
            "date": far,
            "time": fine,
            "struct": pa.StructArray.from_arrays([far], ["d"]),
            "list": pa.ListArray.from_arrays([0, 1], fine),
            "map": pa.MapArray.from_arrays([0, 1], ["k"], far),
        }
    )
    table = colonnade.create(tmp_path / "t", rows.schema)
    table.append(rows)
    [row] = run("head", table.path, "--json").json
    date, time = "11552-09-04", "00:00:01.234567891"
    assert (row["date"], row["time"]) == (date, time)
    assert (row["struct"], row["list"], row["map"]) == ({"d": date}, [time], [["k", date]])


def test_years_before_the_first_have_four_digits_or_more(run: Run, tmp_path: Path) -> None:
    days = pa.array([-719_528, -719_529, -800_000, -5_000_000], pa.date32())
    rows = pa.table({"day": days, "at": days.cast(pa.timestamp("us", "UTC"))})
    colonnade.create(tmp_path / "t", rows.schema).append(rows)
    found = run("head", tmp_path / "t", "--json").json
    texts = ["-0001-12-31", "-0221-09-04", "-11720-06-19"]
    assert [row["day"] for row in found] == ["0000-01-01", *texts]
    assert [row["at"] for row in found][1:] == [f"{text}T00:00:00.000000+00:00" for text in texts]


def test_no_row_is_a_command_to_a_terminal_and_null_is_not_text(run: Run, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.string()), ("n", pa.int64())]))
    table.append(pa.table({"id": ["\x1b[31mred\x9b", None], "n": [1234, None]}))
    lines = run("head", table.path).out.splitlines()
    assert [line.split() for line in lines] == [
        ["id", "n"],
        ["\\x1b[31mred\\x9b", "1234"],
        ["NULL", "NULL"],
    ]
    wrong = run("count", table.path, "--where", "`\x1b[31m` = 1")
    assert wrong.code == 2
    assert "\x1b" not in wrong.err


def test_rows_are_counted_by_the_log_unless_a_predicate_is_asked(run: Run, shop: Path) -> None:
    assert run("count", shop / "orders").out == "28\n"
    facts = run("count", shop / "orders", "--epoch", 3, "--json").json
    assert (facts["rows"], facts["engine"], facts["epoch"]) == (20, "log", 3)
    some = run("count", shop / "orders", "--where", "id < 5", "--json").json
    assert (some["rows"], some["engine"]) == (3, "arrow")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_an_export_imported_again_is_the_same_rows(
    run: Run, shop: Path, tmp_path: Path, suffix: str
) -> None:
    orders, file = shop / "orders", tmp_path / f"orders.{suffix}"
    done = run("export", orders, file, "--where", "id >= 4", "--json").json
    assert (done["rows"], done["bytes"]) == (25, file.stat().st_size)
    colonnade.open_database(shop).create_table("again", SCHEMA)
    made = run("import", shop / "again", file, "--json").json
    assert (made["rows"], made["rowsets"], made["engine"]) == (25, 1, "arrow")
    expected = [row for row in rows_of(orders) if row["id"] != 3]
    assert rows_of(shop / "again") == [row for row in expected if int(str(row["id"])) >= 4]


def test_a_new_table_gets_the_columns_of_all_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int32())}), folder / "a.parquet")
    pq.write_table(pa.table({"id": [2**40], "name": ["x"]}), folder / "b.parquet")
    (folder / "_SUCCESS").touch()
    design = ("--sort-key", "id desc", "--partition-by", "truncate(1, name), bucket(4, id)")
    assert run("import", tmp_path / "t", folder, *design, "--mode", "create").code == 0
    assert rows_of(tmp_path / "t") == [{"id": 1, "name": None}, {"id": 2**40, "name": "x"}]
    made = run("show", tmp_path / "t", "--json").json
    assert made["sort_key"] == ["id desc"]
    assert made["partitioning"] == ["truncate(1, name)", "bucket(4, id)"]
    assert "truncate(1, name)=x, bucket(4, id)=" in run("rowsets", tmp_path / "t").out


def test_csv_files_may_be_compressed_and_separated_by_tabs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b'id\tname\n1\t\n2\t""\n'))
    assert run("import", tmp_path / "t", tmp_path / "a.tsv.gz").code == 0
    assert rows_of(tmp_path / "t") == [{"id": 1, "name": None}, {"id": 2, "name": ""}]


def test_only_an_empty_field_of_a_csv_file_is_null(run: Run, tmp_path: Path) -> None:
    text = "id,code,share,note\n1,NA,NaN,\n2,null,,\n3,N/A,0.5,\n"
    (tmp_path / "a.csv").write_text(text)
    for file, table in (("a.csv", "a"), ("b.csv", "b")):
        assert run("import", tmp_path / table, tmp_path / file).code == 0
        rows = [list(row.values()) for row in rows_of(tmp_path / table)]
        assert str(rows[0].pop(2)) == "nan"
        assert rows == [[1, "NA", None], [2, "null", None, None], [3, "N/A", 0.5, None]]
        assert run("export", tmp_path / table, tmp_path / "b.csv", "--yes").code == 0


def test_an_empty_line_of_a_csv_file_is_null_where_there_is_one_column(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text('name\nx\n\n""\n\n')
    for file, table in (("a.csv", "a"), ("b.csv", "b")):
        assert run("import", tmp_path / table, tmp_path / file).code == 0
        names = colonnade.open(tmp_path / table).scan().to_arrow()["name"].to_pylist()
        assert names == ["x", None, "", None]
        assert run("export", tmp_path / table, tmp_path / "b.csv", "--yes").code == 0
    (tmp_path / "wide.csv").write_text("id,name\n\n1,x\n\n")
    assert run("import", tmp_path / "wide", tmp_path / "wide.csv", "--json").json["rows"] == 1


def test_files_that_differ_in_how_they_say_the_same_fit_together(run: Run, tmp_path: Path) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
    for number, zone in enumerate(("UTC", "Europe/Berlin")):
        names = pa.array(["x"]).dictionary_encode() if number else pa.array(["x"])
        at = pa.array([noon], pa.timestamp("us", zone))
        pq.write_table(
            pa.table({"id": [number], "at": at, "name": names}), tmp_path / f"{number}.parquet"
        )
    assert run("import", tmp_path / "t", tmp_path / "*.parquet").code == 0
    assert rows_of(tmp_path / "t") == [{"id": n, "at": noon, "name": "x"} for n in (0, 1)]


def _files_that_cannot_be_imported(folder: Path) -> Iterator[list[Path]]:
    """Files of every kind, each with a name for what is wrong with them."""
    rows = pa.table({"id": range(100_000)})
    pq.write_table(rows, folder / "page.parquet", use_dictionary=False)
    stored = (folder / "page.parquet").read_bytes()
    (folder / "page.parquet").write_bytes(stored[:40_000] + bytes(1_000) + stored[41_000:])
    yield [folder / "page.parquet"]
    packed = gzip.compress("\n".join(("id", *map(str, range(1_000)))).encode())
    (folder / "cut.csv.gz").write_bytes(packed[:400])
    yield [folder / "cut.csv.gz"]
    (folder / "plain.csv.gz").write_text("id\n1\n")
    yield [folder / "plain.csv.gz"]
    (folder / "twice.csv").write_text("id,id\n1,2\n")
    yield [folder / "twice.csv"]
    for name, content in (("bare.csv", "id,\n1,\n"), ("late.csv", "\nid\n1\n")):
        (folder / name).write_text(content)
        yield [folder / name]
    pq.write_table(pa.table({"id": [2**53 + 1]}), folder / "whole.parquet")
    pq.write_table(pa.table({"id": [0.5]}), folder / "half.parquet")
    yield [folder / "whole.parquet", folder / "half.parquet"]


def test_a_file_that_cannot_be_imported_is_named(run: Run, tmp_path: Path) -> None:
    for files in _files_that_cannot_be_imported(tmp_path):
        ran = run("import", tmp_path / "t", *files)
        assert (ran.code, files[0].name in ran.err) == (2, True), ran.err
        assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"id,name\n1,caf\xe9\n", "a.csv is not UTF-8 in column 'name'; convert it"),
        (b"id,caf\xe9\n1,2\n", "a.csv is not UTF-8 in its first line"),
        (b"id,name\n1,2\n3\n", "a.csv cannot be read: CSV parse error: Expected 2 columns, got 1"),
        (
            b"id,name\n1," + b"x" * (20 << 20) + b"\n",
            "it has a row of more than 8 MiB",
        ),
    ],
    ids=["text", "header", "short", "long"],
)
def test_a_csv_file_that_cannot_be_read_is_named(
    content: bytes, sentence: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    ran = run("import", tmp_path / "t", tmp_path / "a.csv")
    assert (ran.code, sentence in ran.err) == (2, True)
    assert not (tmp_path / "t").exists()


def test_a_text_of_megabytes_is_a_value_of_a_csv_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,name\n1,{'x' * (5 << 20)}\n")
    assert run("import", tmp_path / "t", tmp_path / "a.csv").code == 0
    assert [len(str(row["name"])) for row in rows_of(tmp_path / "t")] == [5 << 20]


def test_instants_of_a_csv_file_are_in_utc_unless_they_name_a_zone(
    run: Run, tmp_path: Path
) -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    colonnade.create(tmp_path / "t", schema)
    texts = ("2026-01-31 12:00:00", "2026-01-31T14:00:00+02:00", "2026-01-31 12:00:00.0Z", "")
    lines = [f"{number},{text}" for number, text in enumerate((*texts, "2026-01-31"))]
    (tmp_path / "a.csv").write_text("\n".join(("id,at", *lines)))
    assert run("import", tmp_path / "t", tmp_path / "a.csv").code == 0
    noon = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
    found = [row["at"] for row in rows_of(tmp_path / "t")]
    assert found == [noon, noon, noon, None, noon.replace(hour=0)]
    (tmp_path / "b.csv").write_text("id,at\n1,noon\n")
    ran = run("import", tmp_path / "t", tmp_path / "b.csv")
    assert (ran.code, "b.csv cannot be read" in ran.err, "'noon'" in ran.err) == (2, True, True)


def test_times_of_any_year_are_shown_and_only_four_digits_go_into_a_csv_file(
    run: Run, tmp_path: Path
) -> None:
    far = "148108-07-06T14:00:27.387904"
    for name, type_, text in (
        ("local", pa.timestamp("us"), far),
        ("instant", pa.timestamp("us", "UTC"), f"{far}+00:00"),
        ("date", pa.date32(), "5881580-07-11"),
    ):
        at = pa.array([2**31 - 1 if name == "date" else 2**62, None, 0], type_)
        colonnade.create(tmp_path / name, pa.schema([("at", at.type)])).append(pa.table({"at": at}))
        found = [row["at"] for row in run("head", tmp_path / name, "--json").json]
        assert found[:2] == [text, None]
        ran = run("export", tmp_path / name, tmp_path / "a.csv")
        assert (ran.code, "Column 'at'" in ran.err) == (2, True)
        assert not (tmp_path / "a.csv").exists()
        assert run("export", tmp_path / name, tmp_path / f"{name}.parquet").code == 0


def test_a_query_brings_rows_of_any_kind_of_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"id": 1}, {"id": 2}]')
    query = f"SELECT id * 10 AS id FROM read_json('{tmp_path}/a.json')"
    assert run("import", tmp_path / "t", "--query", query).code == 0
    assert rows_of(tmp_path / "t") == [{"id": 10}, {"id": 20}]
    ran = run("import", tmp_path / "t", "--query", "SELECT nothing FROM nowhere")
    assert ran.code == 2
    assert ran.err.startswith("Error: The query failed: Catalog Error")


def test_an_import_compacts_after_its_commit_where_the_table_asks_for_it(
    run: Run, tmp_path: Path
) -> None:
    properties = {"compaction.auto": "true", "compaction.min-rowsets": "2"}
    colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]), properties=properties)
    pa_csv.write_csv(pa.table({"id": [1]}), tmp_path / "a.csv")
    assert run("import", tmp_path / "t", tmp_path / "a.csv", "--json").json["epoch"] == 2
    assert run("import", tmp_path / "t", tmp_path / "a.csv", "--json").json["epoch"] == 3
    operations = [each["operation"] for each in run("history", tmp_path / "t", "--json").json]
    assert operations == ["compact", "append", "append", "create_table"]


def test_an_import_brings_values_of_static_columns(run: Run, tmp_path: Path) -> None:
    columns = pa.schema(
        [
            pa.field("k", pa.string(), nullable=False),
            pa.field("id", pa.int64(), nullable=False),
            ("owner", pa.string()),
        ]
    )
    key = ["k", "id"]
    table = colonnade.create(tmp_path / "t", columns, primary_key=key, static=["owner"])
    (tmp_path / "a.csv").write_text("k,id,owner\na,1,ann\na,2,\n")
    assert run("import", tmp_path / "t", tmp_path / "a.csv", "--json").json["rows"] == 2
    found = table.refresh().scan().to_arrow().sort_by("id")
    assert found["owner"].to_pylist() == ["ann", "ann"]


def test_an_import_merges_the_columns_that_its_files_have(run: Run, tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "t",
        pa.schema([("id", pa.int64()), ("n", pa.int64()), ("name", pa.string())]),
        primary_key=["id"],
        constraints={"small": "n < 10"},
        properties={"onDuplicate": "merge", "merge.n": "add"},
    )
    table.append({"id": [1, 2], "n": [1, 8], "name": ["ann", "bo"]})
    (tmp_path / "a.csv").write_text("id,n\n1,5\n3,7\n")
    assert run("import", tmp_path / "t", tmp_path / "a.csv").code == 0
    found = table.refresh().scan().to_arrow().sort_by("id").to_pydict()
    assert found == {"id": [1, 2, 3], "n": [6, 8, 7], "name": ["ann", "bo", None]}
    (tmp_path / "b.csv").write_text("id,n\n2,5\n")
    assert "small" in run("import", tmp_path / "t", tmp_path / "b.csv").err


def test_modes_append_create_and_overwrite_do_what_they_say(run: Run, tmp_path: Path) -> None:
    file, table = tmp_path / "a.csv", tmp_path / "t"
    pa_csv.write_csv(pa.table({"id": [1]}), file)
    for mode, rows in (("create", 1), ("append", 2)):
        assert run("import", table, file, "--mode", mode).code == 0
        assert run("count", table).out == f"{rows}\n"
    asked = run("import", table, file, "--mode", "overwrite", answer="n\n")
    assert asked.code == 11
    assert f"Replace all rows of {table}?" in asked.err
    assert run("count", table).out == "2\n"
    assert run("import", table, file, "--mode", "overwrite", "--yes").code == 0
    assert run("count", table).out == "1\n"
    assert run("import", table, file, "--mode", "create").code == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Give either files to import or --query."),
        (("a.parquet", "b.csv"), "Import Parquet files and CSV files by separate commands."),
        (("a.parquet", "--query", "x"), "Give either files to import or --query."),
        (("--query", "x", "--as-plain-files"), "--as-plain-files is about files; leave it out"),
        (("a.txt",), "The suffix of a.txt does not say its format; choose a --format."),
        (("a.txt", "--format", "parquet"), "a.txt cannot be read: "),
        (("b.csv", "--spark", "always"), "Spark imports Parquet files only;"),
        (("days",), "hold column values in their names; import it with --query"),
        (("b.csv", "--spark-above", "lots"), "--spark-above 'lots' is not a size;"),
    ],
)
def test_an_import_that_cannot_work_is_refused_and_leaves_no_table(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": [1]}), "a.parquet")
    Path("b.csv").write_text("id\n1\n")
    Path("a.txt").write_text("what is this")
    Path("days/day=1").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), "days/day=1/a.parquet")
    ran = run("import", "t", *arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert not Path("t").exists()


LOGS_OF_OTHER_FORMATS = {
    "_delta_log/00000000000000000000.json": "Delta Lake",
    ".hoodie/hoodie.properties": "Hudi",
    "metadata/00000-1f2e.metadata.json": "Iceberg",
    "metadata/v3.gz.metadata.json": "Iceberg",
    "metadata/version-hint.text": "Iceberg",
    "snapshot/snapshot-1": "Paimon",
}


@pytest.mark.parametrize("given", ["old", "old/*", "old/data", "old/data/*.parquet", ".", "linked"])
@pytest.mark.parametrize(("log", "name"), LOGS_OF_OTHER_FORMATS.items())
def test_files_of_a_table_of_another_format_are_imported_only_as_plain_files(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, name: str, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("old/data/day=1", "old/data/plain", str(Path("old", log).parent)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    Path("old", log).touch()
    for file in ("old/data/a.parquet", "old/data/day=1/a.parquet"):
        pq.write_table(pa.table({"id": [1]}), file)
    Path("linked").symlink_to(tmp_path / "old/data/a.parquet")
    arguments = ("import", "t", given, "--format", "parquet")
    ran = run(*arguments)
    assert ran.code == 2
    assert f"belongs to the {name} table {tmp_path}/old, whose log" in ran.err
    assert not Path("t").exists()
    Path("old/data/day=1/a.parquet").unlink()
    assert run(*arguments, "--as-plain-files").code == 0


def test_folders_that_only_have_the_name_of_a_log_are_imported(run: Run, tmp_path: Path) -> None:
    for name in ("metadata/owners.json", "snapshot/january.txt", "_delta_log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    assert run("import", tmp_path / "t", tmp_path / "a.parquet").code == 0


def test_rows_that_do_not_fit_are_refused_and_change_nothing(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    file = tmp_path / "late.csv"
    file.write_text("id,name\n" + f"1,{'x' * 100}\n" * 100_000 + "x,\n")
    before = run("show", shop, "--json").json["epoch"]
    ran = run("import", shop / "late", file)
    assert ran.code == 2
    assert f"{file} cannot be read: " in ran.err
    assert run("import", tmp_path / "alone", file).code == 2
    assert not [*tmp_path.glob("alone/*")]
    assert run("import", shop / "orders", tmp_path / "nothing.csv").code == 3
    pq.write_table(order_rows(0, 1).drop(["id"]), tmp_path / "less.parquet")
    assert run("import", shop / "orders", tmp_path / "less.parquet").code == 2
    assert run("show", shop, "--json").json["epoch"] == before


def test_numbers_are_plain_unless_they_go_to_a_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("n", pa.int64())]))
    table.append(pa.table({"n": range(12_345)}))
    printed = [("count",), ("show",), ("ls",), ("rowsets",), ("head", "--where", "n = 12344")]
    for command, *options in printed:
        assert "," not in run(command, table.path, *options).out.replace("truncate(4, n)", "")
    assert run("count", table.path).out == "12345\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "12,345" in run("count", table.path).out
    assert "12,345" in run("ls", table.path).out


@pytest.mark.parametrize("limit", [0, 3, 28, 1000])
@pytest.mark.parametrize("chosen", ["csv", "parquet", "jsonl"])
def test_an_export_to_standard_output_is_what_a_file_would_hold(
    shop: Path, tmp_path: Path, chosen: str, limit: int
) -> None:
    file = tmp_path / f"orders.{chosen}"
    words = ["export", f"{shop}/orders", str(file), "--limit", str(limit), "--json"]
    assert run_command(*words).json["rows"] == min(limit, 28)
    piped = CliRunner().invoke(app, [*words[:2], "-", "--format", chosen, *words[3:5]])
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert piped.stdout_bytes == file.read_bytes()


def test_each_line_of_an_export_is_what_head_says_of_a_row(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    assert run("export", shop / "orders", tmp_path / "a.jsonl").code == 0
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    assert [orjson.loads(line) for line in lines] == run(
        "head", shop / "orders", "-n", 100, "--json"
    ).json


def test_standard_output_has_csv_unless_another_format_is_chosen_and_never_two_things(
    run: Run, shop: Path
) -> None:
    ran = run("export", shop / "orders", "-", "--columns", "id", "--where", "id = 7")
    assert ran.out == '"id"\n7\n'
    refused = run("export", shop / "orders", "-", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "use --format jsonl" in refused.err


@pytest.mark.slow
def test_a_reader_of_an_export_that_stops_early_is_no_error(shop: Path) -> None:
    command = f"{sys.executable} -m colonnade export {shop}/orders - | head -n 1"
    ran = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ('"id","day","price","at","name"\n', "")


def test_a_table_is_dropped_when_the_user_agrees_and_its_history_stays(
    run: Run, shop: Path
) -> None:
    assert run("drop", shop / "orders", answer="n\n").code == 11
    assert run("count", shop / "orders").out == "28\n"
    dropped = run("drop", shop / "orders", "--yes", "--json").json
    assert dropped == {"table": f"{shop}/orders", "epoch": 7}
    assert run("count", shop / "orders").code == 3
    database = colonnade.open_database(shop)
    assert database.table("orders", epoch=6).scan(epoch=6).to_arrow().num_rows == 28


def test_a_table_gets_another_name_if_it_is_free(run: Run, shop: Path) -> None:
    assert run("rename", shop / "orders", "users").code == 4
    assert run("rename", shop / "orders", "sales", "--json").json == {
        "table": f"{shop}/orders",
        "name": "sales",
        "epoch": 7,
    }
    assert run("count", shop / "sales").out == "28\n"


@pytest.mark.parametrize("line", [("drop", "--yes"), ("rename", "other")])
def test_a_lone_table_is_neither_dropped_nor_renamed(
    run: Run, tmp_path: Path, line: tuple[str, ...]
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    refused = run(line[0], table.path, *line[1:])
    assert (refused.code, "folder instead" in refused.err) == (2, True)
    assert colonnade.open(tmp_path / "t").scan().to_arrow().num_rows == 0


def test_an_export_asks_before_it_replaces_and_leaves_no_half_file(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    file = tmp_path / "orders.csv"
    file.write_text("precious")
    assert run("export", shop / "orders", file, answer="n\n").code == 11
    refused = run("export", shop / "orders", file)
    assert refused.code == 11
    assert "--yes continues without asking" in refused.err
    assert file.read_text() == "precious"
    assert run("export", shop / "orders", file, answer="y\n").code == 0
    assert run("export", shop / "orders", file, "--yes").code == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["orders.csv"]
    folder = run("export", shop / "orders", tmp_path, "--format", "csv", "--yes")
    assert (folder.code, folder.err.count("\n")) == (2, 1)
    nowhere = run("export", shop / "orders", tmp_path / "no" / "a.csv")
    assert nowhere.code == 3
    assert f"There is no folder {tmp_path / 'no'} to write a.csv to; make it first." in nowhere.err


def test_a_column_that_csv_cannot_hold_is_an_error_that_keeps_the_old_file(
    run: Run, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("list", pa.list_(pa.int64()))]))
    table.append(pa.table({"list": [[1]]}))
    ran = run("export", table.path, tmp_path / "out.csv")
    assert ran.code == 2
    assert "leave such columns out, by --columns or in the query" in ran.err
    assert not list(tmp_path.glob("*out.csv*"))


def test_a_folder_is_exported_to_where_spark_is_installed(
    run: Run, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.cli.engine.importlib.util.find_spec", lambda name: None)
    ran = run("export", shop / "orders", f"{tmp_path}/out/")
    assert (ran.code, "install pyspark" in ran.err) == (10, True)
    assert not (tmp_path / "out").exists()


def test_spark_is_for_more_bytes_than_the_limit_and_where_it_is_installed() -> None:
    small = choose_engine(2**30, "auto", "1g", has_spark=True)
    assert (small.name, small.why) == ("arrow", "")
    large = choose_engine(2**30 + 1, "auto", "1g", has_spark=True)
    assert large.name == "spark"
    assert large.why == "1 GiB to read, more than 1 GiB (--spark-above)"
    assert choose_engine(2**40, "never", "1g", has_spark=True).name == "arrow"
    assert choose_engine(2**40, "auto", "1g", has_spark=False).name == "arrow"
    assert choose_engine(0, "always", "1g", has_spark=True).name == "spark"
    with pytest.raises(MissingError, match="install pyspark"):
        choose_engine(0, "always", "1g", has_spark=False)
