#!/bin/sh
# Makes the Python environment of the peers in perception, once, and prints its path.
set -eu

venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/space"
packages="numba==0.68.1 numpy==2.4.6 open3d-cpu==0.20.0 pytest==8.4.2 scikit-learn==1.9.1 scipy==1.17.1"
mkdir -p "${venv%/*}"
# Two clones may ask at the same time; the second waits for the first.
if command -v flock >/dev/null; then exec 9> "$venv.lock" && flock 9; fi

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$packages" ]; then
    echo "space_venv.sh: installing Open3D and scikit-learn (once, 1.1 GB on disk)" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    # shellcheck disable=SC2086  # one word per package
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages >&2
    printf '%s\n' "$packages" > "$venv/.ready"
fi

# What Open3D's library is linked against, although nothing is drawn.
"$(dirname "$0")/apt.sh" libegl1 libgl1 libgomp1 libidn2-0 libudev1 libusb-1.0-0 libx11-6

echo "$venv"
