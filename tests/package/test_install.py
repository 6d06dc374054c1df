"""An installed package works in any folder, also beside modules with the names of its folders."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.package.trees import JAR, ROOT, build, copy_tree


def hostile(folder: Path) -> Path:
    """Make a project of a user that has modules with the names of our folders."""
    folder.mkdir()
    (folder / "manifests.py").write_text("raise SystemExit('not ours')")
    (folder / "tableformat").mkdir()
    (folder / "tableformat" / "__init__.py").write_text("raise SystemExit('not ours')")
    return folder


def environment(folder: Path, *requirements: str) -> Path:
    """Make an environment, have pip install into it, and return its Python."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    done = subprocess.run([*pip, *requirements], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return python


def borrow_dependencies(python: Path) -> None:
    """Let an environment import the packages of this one, which installing would take a while."""
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


def lines_of_readme(section: str) -> str:
    text = (ROOT / "README.md").read_text().split(f"## {section}\n")[1]
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    return code[1]


def check_readme(python: Path, folder: Path) -> None:
    """Run README's lines for Python as a program and as a text, in a folder of a user."""
    (folder / "program.py").write_text(lines_of_readme("With Python alone"))
    done = run([python, "program.py"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "miles: [[7]]" in done.stdout
    look = "import colonnade; print(colonnade.__file__, colonnade.open('trips').scan().to_arrow())"
    seen = run([python, "-c", look], folder)
    assert str(python.parent.parent) in seen.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with a package that was built without a JDK."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = build(copy_tree(folder / "tree"), "wheel", "no")
    python = environment(folder / "env", "--no-index", "--no-deps", str(wheel))
    borrow_dependencies(python)
    return python


def test_the_lines_of_the_readme_run_beside_modules_of_the_same_names(
    installed: Path, tmp_path: Path
) -> None:
    check_readme(installed, hostile(tmp_path / "project"))


def test_a_planner_imports_the_package_and_leaves_the_names_of_its_parts_to_users(
    installed: Path, tmp_path: Path
) -> None:
    folder = "from colonnade.spark_ext.jar import IMPORT_FOLDER as folder; print(folder)"
    path = run([installed, "-c", folder], tmp_path).stdout.strip()
    look = f"""import sys; sys.path[:] = [each for each in sys.path if "site-packages" not in each]
sys.path.insert(0, {path!r}); import colonnade, importlib.util
print(colonnade.__file__, *map(importlib.util.find_spec, ("manifests", "cli")))"""
    seen = run([installed, "-c", look], tmp_path)
    assert seen.stdout.split() == [str(Path(path, "colonnade", "__init__.py")), "None", "None"]


def test_an_installation_without_a_jdk_says_so_in_doctor_and_in_session(
    installed: Path, tmp_path: Path
) -> None:
    folder = hostile(tmp_path / "project")
    command = installed.with_name("colonnade")
    said = json.loads(run([command, "doctor", "--json"], folder).stdout)
    found = {check["what"]: check["found"] for check in said}
    assert "because it was built without a JDK" in found["jar"]
    done = run([installed, "-c", "import colonnade; colonnade.session()"], folder)
    assert "because it was built without a JDK: install a JDK" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("links", ["texts", "nothing"])
def test_a_tree_without_links_says_in_one_sentence_that_it_must_be_installed(
    tmp_path: Path, links: str
) -> None:
    tree = copy_tree(tmp_path / "tree")
    for link in (tree / "colonnade").iterdir():
        if link.is_symlink():
            target = str(link.readlink())
            link.unlink()
            if links == "texts":  # as git writes them with core.symlinks=false
                link.write_text(target)
    command = "import sys, colonnade_command; sys.argv[1:] = ['doctor']; colonnade_command.main()"
    for words in (["-c", "import colonnade"], ["-m", "colonnade", "doctor"], ["-c", command]):
        done = run([sys.executable, *words], tree)
        assert done.returncode != 0
        said = done.stderr.splitlines()[-1]
        assert "has no links to the folders beside it" in said
        assert "install it with pip install ., and start Python in another folder." in said
        if "doctor" in "".join(words):
            assert done.stderr.splitlines() == [said]


@pytest.mark.spark
@pytest.mark.long
def test_the_lines_of_the_readme_for_spark_run_with_the_jar_of_the_wheel(tmp_path: Path) -> None:
    wheel = build(copy_tree(tmp_path / "tree"), "wheel", "yes")
    python = environment(tmp_path / "env", "--no-index", "--no-deps", str(wheel))
    borrow_dependencies(python)
    ends = "assert spark.table('colonnade.shop.orders').count() == 1\nspark.stop()\n"
    lines = lines_of_readme("With Spark") + ends
    done = run([python, "-c", lines], hostile(tmp_path / "project"))
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"\| +3\| +update\|", done.stdout, re.IGNORECASE)


@pytest.mark.long
def test_a_source_archive_is_installed_with_all_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLONNADE_JAR", "no")
    archive = build(copy_tree(tmp_path / "tree"), "sdist")
    python = environment(tmp_path / "env", f"colonnade[cli] @ {archive.as_uri()}")
    project = hostile(tmp_path / "project")
    check_readme(python, project)
    assert run([python.with_name("colonnade"), "count", "trips"], project).stdout.strip() == "2"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs mvn")
def test_the_jar_is_the_same_from_the_jars_of_spark_alone(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "tree")
    (tree / JAR).unlink()
    alone = [sys.executable, "-I", "-S", str(tree / "spark_ext/java/build.py")]  # without pyspark
    done = run(alone, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tree / JAR).read_bytes() == (ROOT / JAR).read_bytes()
