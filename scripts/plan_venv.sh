#!/bin/sh
# Makes the Python environment of the peers in planning, once, and prints its path.
set -eu

venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/plan"
packages="coal==3.0.3 numba==0.68.1 numpy==2.4.6 ompl==2.0.1 pytest==8.4.2"
mkdir -p "${venv%/*}"
# Two clones may ask at the same time; the second waits for the first.
if command -v flock >/dev/null; then exec 9> "$venv.lock" && flock 9; fi

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$packages" ]; then
    echo "plan_venv.sh: installing coal and OMPL (once, 0.7 GB on disk)" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    # shellcheck disable=SC2086  # one word per package
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages >&2
    printf '%s\n' "$packages" > "$venv/.ready"
fi

echo "$venv"
