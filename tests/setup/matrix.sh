#!/usr/bin/env bash
# bash tests/setup/matrix.sh [VERSION ...]   each supported Python with each supported pyspark
#
# Takes python3.10 to python3.14 from the PATH and says which are missing. With each it tries what
# `pip install` makes of pyproject.toml today, the tests without Spark, and the smaller suite on
# every pyspark; with Python 3.10 also the oldest packages that pyproject.toml allows. Prints one
# line each, and keeps the rest in .venv-matrix/. No part of CI, because all of it takes about 45
# minutes and 10 GB.
set -Eeuo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
logs=$root/.venv-matrix
cd "$root"

row() { # row WHAT COMMAND...: one line that says how it ended, and the last that it printed
    local outcome=ok log="$logs/$version $1.log"
    "${@:2}" >"$log" 2>&1 || outcome=FAILED
    printf '%-14s %-15s %-6s %s\n' "$("$python" -V)" "$1" "$outcome" "$(tail -n 1 "$log")"
    if [[ $outcome != ok ]]; then touch "$logs/failed"; fi
}

without_spark() { # without_spark newest|oldest
    row "$1 packages" "$python" -m pytest tests -m 'not long' --hypothesis-profile quick \
        --ignore tests/spark_ext --ignore tests/examples --ignore tests/benchmarks
}

compatible() { # the smaller suite on whichever pyspark `python` imports now
    row "pyspark $("$python" -c 'import pyspark; print(pyspark.__version__)')" \
        "$python" -m pytest -m 'spark_compat and not long'
}

install_unlocked() { # the core without pyspark, then pyspark with it; both away from the sources
    local folder=$venv-installed
    rm -rf -- "$folder" && "$base_python" -m venv "$folder" &&
        "$folder/bin/python" -m pip install "$root" &&
        "$folder/bin/python" -I -c '
import importlib.util, sys, colonnade, pyarrow as pa
assert importlib.util.find_spec("pyspark") is None
rows = pa.table({"n": [1, 2, 3], "s": ["a", None, "c"]})
colonnade.create(sys.argv[1], rows.schema).append(rows)
assert colonnade.open(sys.argv[1]).scan(where="n > 1").to_arrow() == rows.slice(1)' "$folder/t" &&
        "$folder/bin/python" -m pip install "$root[spark]" &&
        "$folder/bin/python" -I -c '
import colonnade, pyspark, pyspark_colonnade
assert colonnade.Table
print(f"a round trip without pyspark, imports with pyspark {pyspark.__version__}")'
}

try_python() ( # in a subshell, so that one version's settings do not reach the next
    export PYTHON=python$version COLONNADE_VENV=$version
    older=(spark42 spark41)
    if [[ $version == 3.10 ]]; then older=(spark41); fi # its newest is 4.2
    source "$root/tests/setup/environment.sh"
    row 'pip install' install_unlocked
    without_spark newest
    compatible
    for name in "${older[@]}"; do
        use_packages "$name"
        compatible
    done
    if [[ $version == 3.10 ]]; then
        use_packages lowest
        without_spark oldest
    fi
)

rm -rf -- "$logs"
mkdir "$logs"
if (($# == 0)); then set -- 3.10 3.11 3.12 3.13 3.14; fi
for version in "$@"; do
    if "python$version" -c '' 2>/dev/null; then
        try_python
    else
        echo "Python $version: skipped, there is no python$version on the PATH"
    fi
done
[[ ! -e $logs/failed ]]
