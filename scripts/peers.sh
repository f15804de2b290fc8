#!/bin/sh
# Makes the Python environment of the peers, once, and prints its path.
set -eu

venv="${CITRANGE_CACHE:-$HOME/.cache/citrange}/peers/venv"
packages="av==15.1.0 mujoco==3.17.0 numpy==2.4.6 pytest==8.4.2"

if [ ! -f "$venv/.ready" ] || [ "$(cat "$venv/.ready")" != "$packages" ]; then
    python3 -m venv "$venv" >&2
    # shellcheck disable=SC2086  # one word per package
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages >&2
    printf '%s\n' "$packages" > "$venv/.ready"
fi

# What MuJoCo's own renderer needs to draw without a screen.
for package in libosmesa6 libegl1 libgl1-mesa-dri; do
    if command -v dpkg-query >/dev/null && ! dpkg-query -W "$package" >/dev/null 2>&1; then
        if [ "$(id -u)" = 0 ]; then
            [ -n "${updated:-}" ] || { apt-get update -qq >&2; updated=yes; }
            DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" >&2
        else
            echo "peers.sh: $package is missing; as root: apt-get install $package" >&2
        fi
    fi
done

echo "$venv"
