#!/usr/bin/env bash
# Writes the lock files anew from pyproject.toml: exact versions with hashes, for every
# supported Python on every platform, and no registry address. Versions already locked are
# kept where they still fit; to move on, pass `--upgrade` or `--upgrade-package NAME`.
# Needs uv (https://docs.astral.sh/uv) on the PATH.
set -Eeuo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

lock() { # lock INPUT OUTPUT [OPTION...]
    uv pip compile "$1" --output-file "tests/setup/$2" --quiet --universal --python-version 3.10 \
        --generate-hashes --no-annotate --no-emit-index-url \
        --custom-compile-command "bash tests/setup/lock.sh" "${@:3}"
}

# The last numpy for Python 3.10 has no wheels for 3.14.
lock pyproject.toml dev.lock --extra dev --no-emit-package pyspark --no-emit-package py4j "$@" \
    --constraint <(echo "numpy>=2.3.3; python_version >= '3.14'")
lock - spark.lock "$@" <<<'pyspark<4.4' # the newest one, which is installed beside the others
# What builds Colonnade, and setuptools, which builds pyspark: it comes as source only.
lock - build.lock --constraint tests/setup/dev.lock "$@" \
    <<<$'hatchling>=1.27\nhatch-fancy-pypi-readme>=24\nsetuptools>=77'
lock - spark41.lock "$@" <<<'pyspark==4.1.4' # the supported lines before the newest
lock - spark42.lock "$@" <<<'pyspark==4.2.1'
# What Colonnade is compared with, without Spark. pyarrow and numpy are Colonnade's own.
lock - lakes.lock --constraint tests/setup/dev.lock --no-emit-package pyarrow \
    --no-emit-package numpy "$@" <<<$'datafusion\ndeltalake\npyiceberg[pyarrow,sql-sqlite]\npylance'
# Makes the site of docs/. mkdocstrings for Python 3.10 cannot do with newer pymdown-extensions.
lock - docs.lock --constraint tests/setup/dev.lock "$@" \
    <<<$'mkdocs-material>=9.6,<10\nmkdocstrings[python]>=0.30\npymdown-extensions<12'
lock pyproject.toml lowest.lock --resolution lowest-direct "$@" # tried on Python 3.10
