"""Builds the jar of the Spark source: `python spark_ext/java/build.py`.

Set-up, CI and the wheel call this one script. It needs a JDK, 17 or newer. It compiles against the
jars of the pyspark that Python would import, any that Colonnade supports. Without pyspark it has
Maven fetch Spark's own jars, those that `spark.lock` names. One jar serves all versions of Spark.
Equal sources and equal compilers make equal jars, byte for byte. The jar has the version and
the hash of its sources, and is made anew only when that hash differs.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
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
RELEASE = 17
LOCK = HERE / "spark.lock"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
# `-serial`: Spark's interfaces are serializable; what we ship lives for one query of one jar.
# A compiler that runs for ten seconds does not gain from being optimized itself.
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
LINT = ("-Xlint:all,-serial,-processing,-classfile,-path", "-Werror")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>colonnade</groupId><artifactId>jar</artifactId><version>0</version><packaging>pom</packaging>
<dependencies>{dependencies}</dependencies></project>
"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip entry can hold


def main() -> None:
    """Bring the jar up to date, or exit with one sentence."""
    try:
        print(f"{JAR}: {'built' if build() else 'up to date'}")
    except (RuntimeError, OSError) as error:
        sys.exit(f"The jar of the Spark source was not built: {error}")


def build(jar: Path = JAR) -> bool:
    """Make `jar` from the sources, unless it is of these sources already; whether it was made.

    The jar appears whole or not at all. Raises `RuntimeError` if there is no compiler, if neither
    pyspark nor Maven is there, or if the sources do not compile.
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

    The jars of Spark come first on the class path, so `NEWER` serves only what they lack.
    """
    compiler, newer = javac(), classes.with_name("newer")
    spark = spark_jars(classes.with_name("spark"))
    run_javac(compiler, newer, newer_files(), spark)
    run_javac(compiler, classes, source_files(), os.pathsep.join((spark, str(newer))))


def run_javac(compiler: str, classes: Path, sources: list[Path], class_path: str) -> None:
    """Compile sources into the new folder `classes`. Raises `RuntimeError`."""
    classes.mkdir()
    command = [compiler, *QUICK, "--release", str(RELEASE), "-encoding", "UTF-8", "-g", *LINT]
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
    """The compiler. Raises `RuntimeError` where there is none."""
    found = find_javac()
    if found is None:
        raise RuntimeError(
            f"there is no javac of a JDK, {RELEASE} or newer, in JAVA_HOME or on the PATH; install "
            "one (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless)."
        )
    return found


def find_javac() -> str | None:
    """The compiler of JAVA_HOME, or else of the PATH; None if there is none that is new enough."""
    home = os.environ.get("JAVA_HOME")
    for path in ([str(Path(home, "bin"))] if home else []) + [os.environ.get("PATH", os.defpath)]:
        found = shutil.which("javac", path=path)
        if found and is_new_enough(found):
            return found
    return None


def is_new_enough(command: str) -> bool:
    """Return whether a `javac` can compile for Java 17; some systems have one that only fails."""
    done = subprocess.run([command, "-version"], capture_output=True, text=True)
    version = re.search(r"javac (\d+)", done.stdout + done.stderr)
    return done.returncode == 0 and version is not None and int(version[1]) >= RELEASE


def maven() -> str | None:
    """The program of Maven on the PATH, if there is one."""
    return shutil.which("mvn")


def spark_jars(folder: Path) -> str:
    """Return the class path of Spark: the installed pyspark, or else jars fetched to `folder`.

    Raises `RuntimeError` where neither can be had.
    """
    spec = importlib.util.find_spec("pyspark")
    if spec is not None and spec.submodule_search_locations:
        return str(Path(spec.submodule_search_locations[0], "jars", "*"))
    if maven() is None:
        raise RuntimeError(
            f"it is compiled against the jars of Spark: {sys.executable} has no pyspark, "
            "and there is no mvn on the PATH that would fetch them."
        )
    fetch_locked(folder)
    return str(folder / "*")


def fetch_locked(folder: Path) -> None:
    """Fetch the jars of `spark.lock` into the new folder. Raises `RuntimeError` for other bytes."""
    lines = [line.split() for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    pom = folder.with_name("pom.xml")
    pom.write_text(POM.format(dependencies="".join(map(dependency, (name for name, _ in lines)))))
    command = [str(maven()), "--batch-mode", "--quiet", "--file", str(pom), COPY]
    command += [f"-DoutputDirectory={folder}", "-DexcludeTransitive=true"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"Maven could not fetch the jars of Spark:\n{done.stdout}")
    for name, digest in lines:
        jar = folder / "{1}-{2}.jar".format(*name.split(":"))
        found = hashlib.sha256(jar.read_bytes()).hexdigest()
        if found != digest:
            raise RuntimeError(f"{jar.name} has the hash {found}, and not that of {LOCK}.")


def dependency(name: str) -> str:
    """Return `group:artifact:version` as an element of a POM, without what it depends on."""
    group, artifact, version = name.split(":")
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><exclusions><exclusion><groupId>*</groupId>"
        "<artifactId>*</artifactId></exclusion></exclusions></dependency>"
    )


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
