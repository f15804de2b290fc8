#!/bin/sh
# Makes the Python environment of the peers, once, and prints its path.
set -eu

venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/venv"
packages="av==15.1.0 h5py==3.16.0 mujoco==3.17.0 numpy==2.4.6 playwright==1.65.0 pytest==8.4.2 tqdm==4.67.1"
# Its dependencies are gigabytes; what is tested of it does without them.
alone="robomimic==0.3.0"

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$packages $alone" ]; then
    python3 -m venv "$venv" >&2
    # shellcheck disable=SC2086  # one word per package
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$alone" >&2
    printf '%s\n' "$packages $alone" > "$venv/.ready"
fi

# What MuJoCo's own renderer needs to draw without a screen, and a browser to drive from.
"$(dirname "$0")/apt.sh" libosmesa6 libegl1 libgl1-mesa-dri chromium

echo "$venv"
