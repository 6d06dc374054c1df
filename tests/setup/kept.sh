# Sourced by environment.sh: environments that outlive their checkout, so that a new one installs
# nothing.
#
# A whole run of the tests keeps what it has installed, with what Python has compiled of it. A later
# checkout with the same locks and the same Python links to these files instead of unpacking
# 700 MB, as uv does from its cache. Whatever fails here only costs the time of an installation.
# shellcheck shell=bash

kept=${XDG_CACHE_HOME:-$HOME/.cache}/colonnade/environments

kept_place() { # kept_place NAME LOCK...: where the environment of these locks is kept
    local hash
    hash=$({ "$base_python" -VV && cat -- "${@:2}"; } | sha256sum | cut -c 1-32)
    printf '%s/%s-%s' "$kept" "$1" "$hash"
}

keep_folder() { # keep_folder FOLDER NAME LOCK...: link to its files from the place of these locks
    local place unfinished
    place=$(kept_place "${@:2}")
    if [[ -d $place || ! -f $1/stamp ]]; then return; fi
    unfinished=$kept/.$$-$2
    {
        mkdir -p -- "$kept" && cp -al -- "$1" "$unfinished" &&
            find "$unfinished" \( -name '*.jsa' -o -name 'colonnade.pth' \) -delete &&
            rm -f -- "$unfinished/stamp" && rm -rf -- "$kept/$2-"* &&
            mv -T -- "$unfinished" "$place"
    } 2>/dev/null || rm -rf -- "$unfinished"
}

link_kept() { # link_kept FOLDER NAME LOCK...: fill a folder with links; fails if nothing is kept
    local place
    place=$(kept_place "${@:2}")
    [[ -d $place ]] && mkdir -p -- "$1" && cp -aln -- "$place/." "$1/" 2>/dev/null
}

own_scripts() { # own_scripts FOLDER: have the programs in bin/ of an environment start its Python
    local script
    for script in "$1"/bin/*; do
        if [[ -L $script || $(head -c 2 -- "$script" | tr -d '\0') != '#!' ]]; then continue; fi
        sed -i "1s|^#!/.*/python[0-9.]*\$|#!$1/bin/python|" "$script" # into a file of its own
    done
}
