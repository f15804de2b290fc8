#!/bin/sh
# Makes a Python environment of peers, once, and prints its path.
# venv.sh NAME "what it is (how large)" PACKAGE==VERSION ...
set -eu

venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/$1"
what=$2
shift 2
mkdir -p "${venv%/*}"
# Two clones may ask at the same time; the second waits for the first.
if command -v flock >/dev/null; then exec 9> "$venv.lock" && flock 9; fi

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$*" ]; then
    echo "venv.sh: installing $what, once" >&2
    # A folder without .ready is what an interrupted run left behind.
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
    printf '%s\n' "$*" > "$venv/.ready"
fi

echo "$venv"
