# Sourced, with `root` set to the project's folder: makes everything ready, or stops with one
# line that names what is missing. Afterwards `python` is the environment's interpreter. If `beside`
# is set, it names further packages that `use_packages` will want: they are installed side by side.
#
# What it makes lies in .venv, with a stamp written last: the hash of what went in. A folder
# without the right stamp (half made, older locks, moved) is made anew; with it, nothing is done.
# PYTHON names the interpreter to make it with; COLONNADE_VENV=x puts it into .venv-x instead.
# shellcheck shell=bash

venv=$root/.venv${COLONNADE_VENV:+-$COLONNADE_VENV}
python=$venv/bin/python
setup=$root/tests/setup
log=$venv.log
locks=("$setup/build.lock" "$setup/dev.lock" "$setup/spark.lock")
source "$setup/kept.sh"
if [[ -z ${beside+set} ]]; then beside=(); fi

say() { printf '==> %s\n' "$*" >&2; }
die() {
    printf 'set-up: %s\n' "$*" >&2
    exit 1
}

# ---- what the machine must offer ------------------------------------------------------------

find_base_python() { # prints the interpreter the environment is made with, if there is one
    local candidate candidates=(python3 python3.14 python3.13 python3.12 python3.11 python3.10)
    if [[ -n ${PYTHON:-} ]]; then candidates=("$PYTHON"); fi
    for candidate in "${candidates[@]}"; do
        # Not the interpreter of an activated environment: that one may be ours, and be removed.
        "$candidate" -c 'import sys
if not (3, 10) <= sys.version_info < (3, 15): sys.exit(1)
print(sys._base_executable)' 2>/dev/null && return
    done
    die "Python 3.10 to 3.14 is needed, and ${candidates[0]} is" \
        "$("${candidates[0]}" -V 2>/dev/null || echo missing); PYTHON=/path/to/python names another"
}

jdk_is_new_enough() { # jdk_is_new_enough FOLDER/: it has `java` and, for our jar, `javac`
    local answer
    answer=$("$1java" -version 2>&1) || return 1
    [[ $answer =~ version\ \"([0-9]+) ]] && ((BASH_REMATCH[1] >= 17)) || return 1
    answer=$("$1javac" -version 2>&1) || return 1
    [[ $answer =~ javac\ ([0-9]+) ]] && ((BASH_REMATCH[1] >= 17))
}

use_java() { # leaves JAVA_HOME unset where `java` on the PATH will do; a wrong one fails in Spark
    local home
    if [[ -n ${JAVA_HOME:-} ]] && jdk_is_new_enough "$JAVA_HOME/bin/"; then return; fi
    unset JAVA_HOME
    if jdk_is_new_enough ''; then return; fi
    for home in /usr/lib/jvm/*; do
        if jdk_is_new_enough "$home/bin/"; then
            export JAVA_HOME=$home
            return
        fi
    done
    return 1
}

install_packages() { # install_packages NAME...: with apt as root, else one line says what to do
    if [[ $EUID != 0 ]] || ! command -v apt-get >/dev/null; then
        die "missing: $*; install them (Debian, Ubuntu: sudo apt-get install $*) and run this again"
    fi
    say "installing with apt: $*"
    mkdir -p /usr/share/man/man1 # slim images lack it, and Java's package links into it
    {
        apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    } >"$log" 2>&1 || die "apt could not install $*: $(reason_in_log '^E:')"
}

# ---- the environment ------------------------------------------------------------------------

reason_in_log() { # reason_in_log PATTERN: one sentence out of a failed installer's log
    if grep -qiE 'no space left|disk quota exceeded' "$log"; then
        echo "no space left on the disk (3 GB are needed in $root, 1 GB in ${TMPDIR:-/tmp})"
    elif grep -qiE 'temporary failure|could not resolve|connection (refused|timed out)|max retries|failed to establish|network is unreachable' "$log"; then
        echo "no connection; check the network or the proxy settings, and run this again"
    else
        echo "$(grep -E "$1" "$log" | tail -n 1) (all of it: $log)"
    fi
}

show_progress() { # says what pip is at: in place on a terminal, else a line for every tenth
    local count=0 line
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
            Collecting*) line="package $((++count)): ${line#Collecting }" ;;
            Building*) line='building pyspark' ;;
            Installing*) line='copying into place' ;;
            *) continue ;;
        esac
        if [[ -t 2 ]]; then
            printf '\r\033[K    %s' "${line%%[;(]*}" >&2
        elif [[ $line != package* ]] || ((count % 10 == 0)); then
            printf '    %s\n' "${line%%[;(]*}" >&2
        fi
    done
    if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

pip_install() { # pip_install LOCK [OPTION...]: exactly what the lock file names, by hash
    : >"$log"
    # Not compiled: most of it is never imported, and Python keeps what it compiles. Wheels that are
    # built here are not compressed: pyspark's has 450 MB of jars, and is unpacked at once.
    "$python" -m pip install --disable-pip-version-check --no-input --progress-bar off --no-compile \
        --root-user-action ignore --require-hashes --use-pep517 --no-build-isolation \
        --config-settings=--build-option=--compression=stored \
        --requirement "$@" 2>&1 | show_progress ||
        die "pip could not install $(basename "$1"): $(reason_in_log '^ERROR:')"
}

stamp_of() { # stamp_of LOCK...: changes when the environment must be made anew
    printf '%s %s ' "$root" "$(readlink -f -- "$base_python")"
    cat -- "$@" | sha256sum | cut -c 1-64
}

has_stamp() { [[ -f $1/stamp && $(<"$1/stamp") == "$2" ]]; }

link_environment() { # from one that is kept; fails where there is none
    [[ -d $(kept_place dev "${locks[@]}") ]] &&
        "$base_python" -m venv --without-pip "$venv" 2>/dev/null &&
        link_kept "$venv" dev "${locks[@]}" && own_scripts "$venv"
}

install_all() { # into .venv, and what `beside` names into folders of its own
    local name job jobs=()
    pip_install "$setup/build.lock"
    # Side by side: to build and unpack one pyspark takes one processor as long as all the rest.
    (log=$venv-spark.log pip_install "$setup/spark.lock" --no-deps) &
    jobs+=($!)
    for name in "${beside[@]}"; do
        (use_packages "$name") &
        jobs+=($!)
    done
    pip_install "$setup/dev.lock"
    for job in "${jobs[@]}"; do wait "$job" || exit 1; done
    rm -f -- "$venv-spark.log"
}

make_environment() { # make_environment STAMP
    local started=$SECONDS site
    rm -rf -- "$venv"
    if ! link_environment; then
        say "making ${venv##*/} with $("$base_python" -V): about 700 MB to fetch, one to three minutes"
        rm -rf -- "$venv"
        "$base_python" -m venv "$venv" >"$log" 2>&1 || die "venv failed: $(reason_in_log .)"
        install_all
    fi
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' "$root" >"$site/colonnade.pth" # Spark's workers import the sources, too
    printf '%s\n' "$1" >"$venv/stamp"
    rm -f -- "$log"
    say "${venv##*/} is ready after $((SECONDS - started)) s"
}

use_packages() { # use_packages NAME: those of NAME.lock, in a folder put before everything else
    local lock=$setup/$1.lock folder=$venv-$1 log=$venv-$1.log stamp
    [[ -f $lock ]] || die "there is no $1.lock in $setup"
    stamp=$(stamp_of "${locks[@]}" "$lock")
    if ! has_stamp "$folder" "$stamp"; then
        rm -rf -- "$folder"
        if ! link_kept "$folder" "$1" "$lock"; then
            say "making ${folder##*/}: up to 450 MB to fetch, one minute"
            rm -rf -- "$folder"
            pip_install "$lock" --no-deps --target "$folder"
        fi
        printf '%s\n' "$stamp" >"$folder/stamp"
        rm -f -- "$log"
    fi
    export PYTHONPATH=$folder
}

keep_environments() { # for later checkouts: .venv, and the packages of each NAME
    local name
    keep_folder "$venv" dev "${locks[@]}"
    for name; do keep_folder "$venv-$name" "$name" "$setup/$name.lock"; done
}

# ---- in this order --------------------------------------------------------------------------

[[ -w $root ]] || die "cannot write to $root, where .venv goes"

# Foreign settings that would put another Spark or other packages in front of ours, or have each of
# hundreds of processes compile anew what it imports.
unset PYTHONHOME PYTHONPATH SPARK_HOME SPARK_REMOTE PYTHONDONTWRITEBYTECODE
# With an empty LANG, Java 17 falls back to ASCII; a host name unknown to the hosts file
# stops Spark; workers would take the system's python3.
export LANG=C.UTF-8 LC_ALL=C.UTF-8 SPARK_LOCAL_IP=127.0.0.1
export PYSPARK_PYTHON=$python PYSPARK_DRIVER_PYTHON=$python

base_python=$(find_base_python)
stamp=$(stamp_of "${locks[@]}")

missing=()
if ! has_stamp "$venv" "$stamp" && ! "$base_python" -c 'import ensurepip, venv' 2>/dev/null; then
    missing+=("$(basename "$base_python")-venv") # Debian keeps it apart from python3
fi
if ! use_java; then missing+=(openjdk-17-jdk-headless); fi
if ((${#missing[@]})); then
    install_packages "${missing[@]}"
    use_java || die "a JDK, 17 or newer, is needed, and was not found after it was installed"
fi

if ! has_stamp "$venv" "$stamp"; then
    exec 9>"$venv.lock"
    if command -v flock >/dev/null; then flock 9; fi # two runs at once would undo each other
    if ! has_stamp "$venv" "$stamp"; then make_environment "$stamp"; fi
    exec 9>&-
fi

# ---- the jar of the Spark source --------------------------------------------------------------

answer=$("$python" "$root/spark_ext/java/build.py" 2>&1) || die "$answer"
unset answer
