"""Builds the jar of the Spark source: `python spark_ext/java/build.py`.

Set-up, CI and the wheel call this one script. It needs a JDK (17 or newer) and an installed
pyspark, any that Colonnade supports: it compiles against the jars in it, and one jar serves all.
Equal sources and equal compilers make equal jars, byte for byte. The jar has the version and
the hash of its sources, and is made anew only when that hash differs.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
JAR = HERE.parent / "colonnade-spark.jar"
SOURCES, RESOURCES, NEWER = HERE / "src", HERE / "resources", HERE / "newer"
"""What goes into the jar, and interfaces of newer versions of Spark, which do not."""
RELEASE = "17"
# `-serial`: Spark's interfaces are serializable; what we ship lives for one query of one jar.
# A compiler that runs for ten seconds does not gain from being optimized itself.
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
LINT = ("-Xlint:all,-serial,-processing,-classfile,-path", "-Werror")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip entry can hold


def main() -> None:
    """Bring the jar up to date, or exit with one sentence."""
    try:
        print(f"{JAR}: {'built' if build() else 'up to date'}")
    except (RuntimeError, OSError) as error:
        sys.exit(f"The jar of the Spark source was not built: {error}")


def build(jar: Path = JAR) -> bool:
    """Make `jar` from the sources, unless it is of these sources already; whether it was made.

    The jar appears whole or not at all. Raises `RuntimeError` if a compiler or pyspark is missing,
    or if the sources do not compile.
    """
    if is_current(jar):
        return False
    with tempfile.TemporaryDirectory(dir=jar.parent, prefix=".jar-") as folder:
        classes, made = Path(folder, "classes"), Path(folder, jar.name)
        compile_sources(classes)
        shutil.copytree(RESOURCES, classes, dirs_exist_ok=True)
        pack(classes, made, manifest(hash_of_sources()))
        os.replace(made, jar)
    return True


def is_current(jar: Path = JAR) -> bool:
    """Return whether `jar` was made from the present sources."""
    return hash_in(jar) == hash_of_sources()


def hash_of_sources() -> str:
    """Return the hash of everything that the jar depends on, except the compiler."""
    digest = hashlib.sha256(read_version().encode())
    for path in [*source_files(), *newer_files(), *resource_files(), Path(__file__)]:
        name = path.resolve().relative_to(HERE).as_posix()
        digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def hash_in(jar: Path) -> str | None:
    """Return the hash of the sources of `jar`; None if the jar is missing or cut off."""
    try:
        with zipfile.ZipFile(jar) as archive:
            text = archive.read("META-INF/MANIFEST.MF").decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    # A line of a manifest holds 72 bytes, so the hash is kept in two.
    return fields.get("Colonnade-Sources-1", "") + fields.get("Colonnade-Sources-2", "")


def compile_sources(classes: Path) -> None:
    """Compile all sources into the new folder `classes`; any warning is an error.

    The jars of pyspark come first on the class path, so `NEWER` serves only what they lack.
    """
    newer = classes.with_name("newer")
    run_javac(newer, newer_files(), classpath())
    run_javac(classes, source_files(), os.pathsep.join((classpath(), str(newer))))


def run_javac(classes: Path, sources: list[Path], class_path: str) -> None:
    """Compile sources into the new folder `classes`. Raises `RuntimeError`."""
    classes.mkdir()
    command = [javac(), *QUICK, "--release", RELEASE, "-encoding", "UTF-8", "-g", *LINT]
    command += ["-implicit:none", "-proc:none", "-cp", class_path, "-d", str(classes)]
    command += [str(path) for path in sources]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"javac found\n{done.stdout}")


def pack(classes: Path, jar: Path, manifest_text: str) -> None:
    """Write a jar that depends on nothing but the bytes that go in."""
    contents = {"META-INF/MANIFEST.MF": manifest_text.encode()}
    for path in sorted(classes.rglob("*")):
        if path.is_file():
            contents[path.relative_to(classes).as_posix()] = path.read_bytes()
    with zipfile.ZipFile(jar, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)


def manifest(digest: str) -> str:
    """The text of META-INF/MANIFEST.MF."""
    fields = {
        "Manifest-Version": "1.0",
        "Implementation-Title": "Colonnade",
        "Implementation-Version": read_version(),
        "Colonnade-Sources-1": digest[:32],
        "Colonnade-Sources-2": digest[32:],
    }
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"


def javac() -> str:
    """The compiler of JAVA_HOME, or else of the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=str(Path(home, "bin"))) if home else None
    found = found or shutil.which("javac")
    if not found:
        raise RuntimeError(
            "there is no javac in JAVA_HOME or on the PATH; install a JDK, 17 or newer "
            "(Debian, Ubuntu: apt-get install openjdk-17-jdk-headless)."
        )
    return found


def classpath() -> str:
    """The jars of the pyspark that this Python would import."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"{sys.executable} has no pyspark, whose jars it is compiled against.")
    return str(Path(spec.submodule_search_locations[0], "jars", "*"))


def read_version() -> str:
    """The version of Colonnade, read without importing it: a wheel is built without numpy."""
    tree = ast.parse((ROOT / "manifests" / "version.py").read_text())
    values = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    return str(ast.literal_eval(values[0]))


def source_files() -> list[Path]:
    """Every Java source, in a fixed order."""
    return sorted(SOURCES.rglob("*.java"))


def newer_files() -> list[Path]:
    """The interfaces that the oldest supported version of Spark lacks, in a fixed order."""
    return sorted(NEWER.rglob("*.java"))


def resource_files() -> list[Path]:
    """Return the files that the jar holds unchanged, in a fixed order."""
    return sorted(path for path in RESOURCES.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
