#!/bin/sh
# Makes the Python environment of the real lerobot, once, and prints its path.
# torch comes without CUDA's libraries (cuda_standins.py), 4 GB less.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/lerobot"
wanted=$(cat "$here/lerobot.txt")
mkdir -p "${venv%/*}"
# Two clones may ask at the same time; the second waits for the first.
if command -v flock >/dev/null; then exec 9> "$venv.lock" && flock 9; fi
say() { echo "lerobot_venv.sh: $*" >&2; }

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$wanted" ]; then
    command -v cc >/dev/null && command -v readelf >/dev/null || {
        say "a C compiler and readelf are missing; as root: apt-get install gcc binutils"
        exit 1
    }
    say "installing lerobot and torch (once, 2.7 GB on disk, two minutes or more)"
    # A folder without .ready is what an interrupted run left behind.
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    # Everything is pinned in the list, so nothing else may come along: not CUDA above all.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir \
        --no-deps --requirement "$here/lerobot.txt" >&2
    say "building stand-ins for CUDA's libraries"
    "$venv/bin/python" "$here/cuda_standins.py" \
        "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
    "$venv/bin/python" -c 'import torch, torchvision, lerobot' >&2
    printf '%s\n' "$wanted" > "$venv/.ready"
fi

# torchcodec reads videos with the FFmpeg libraries of the system; ffmpeg brings all of them.
if command -v dpkg-query >/dev/null && ! dpkg-query -W 'libavdevice[0-9]*' >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then
        say "installing FFmpeg's libraries"
        apt-get update -qq >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ffmpeg >&2
    else
        say "FFmpeg's libraries are missing; as root: apt-get install ffmpeg"
    fi
fi

echo "$venv"
