"""What holds for all tests: none fails because the machine is slow or busy."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from tests.examples_of import QUICK
from tests.setup.azurite import Azurite
from tests.setup.ceph import Ceph
from tests.setup.class_archive import java_options
from tests.setup.fake_hdfs import FakeHdfs
from tests.setup.gcs import FakeGcs
from tests.setup.hdfs import Hdfs
from tests.setup.minio import Minio
from tests.setup.sampling import left_by_sample, left_by_share
from tests.setup.sharing import ROOT, Sharing, files_with_jvm, make_way, turn

settings.register_profile(
    "colonnade", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("colonnade"), max_examples=QUICK)
settings.load_profile("colonnade")

os.environ.setdefault("JDK_JAVA_OPTIONS", java_options())


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.addoption
    add("--first-cases", action="store_true", help="run only the first case of each test")
    add("--sample", type=int, metavar="SEED", help="run few cases of each test, as SEED chooses")
    add("--one-in", type=int, metavar="N", help="of files with a JVM and slow tests, run one in N")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files that the sample does not have, before they are imported."""
    seed, share = config.getoption("sample") or 0, config.getoption("one_in")
    left = share is not None and collection_path in _left_files(seed, share)
    return True if left else None  # None: others decide


@cache
def _left_files(seed: int, share: int) -> set[Path]:
    return {ROOT / each for each in left_by_share(files_with_jvm(), seed, share)}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    yield  # options such as `-m` leave tests out
    items.sort(key=turn)
    seed = config.getoption("sample")
    if seed is not None:
        _leave_out(config, items, left_by_sample(items, seed, config.getoption("one_in")))
    if config.getoption("first_cases"):
        first: dict[str, pytest.Item] = {}
        later = [
            item for item in items if first.setdefault(item.nodeid.partition("[")[0], item) != item
        ]
        _leave_out(config, items, later)


def _leave_out(config: pytest.Config, items: list[pytest.Item], left: list[pytest.Item]) -> None:
    names = {item.nodeid for item in left}
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item.nodeid not in names]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no garbage collection walk through the thousands of tests, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Sharing:
    return Sharing(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    make_way(item)


_NUMBERS = count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new folder. Pytest would list the folders of all tests to find a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}_{next(_NUMBERS)}", numbered=False)


@pytest.fixture(scope="session")
def servers(request: pytest.FixtureRequest) -> None:
    """Leave out the tests of servers in a push: to build them takes longer than all other tests."""
    if request.config.getoption("sample") is not None:
        pytest.skip("needs a server, which only `bash tests/run --long` and runs by hand build")


@pytest.fixture(scope="session")
def minio(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Minio]:
    """An S3 server of this process."""
    server = Minio(tmp_path_factory.mktemp("minio"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def ceph(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ceph]:
    """The S3 server of Ceph. It takes many seconds to start, so only long tests use it."""
    server = Ceph(tmp_path_factory.mktemp("ceph"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def gcs(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeGcs]:
    """A server of this process with the API of Google Cloud Storage."""
    server = FakeGcs(tmp_path_factory.mktemp("gcs"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def azurite(servers: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    """A server of this process with the API of Azure Blob Storage."""
    server = Azurite(tmp_path_factory.mktemp("azurite"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def fake_hdfs() -> Iterator[FakeHdfs]:
    """A server of this process that speaks WebHDFS."""
    server = FakeHdfs()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """Hadoop's own HDFS. It takes many seconds to start, so only long tests use it."""
    server = Hdfs(tmp_path_factory.mktemp("hdfs"))
    yield server
    server.stop()
