#!/bin/sh
# Installs the Debian packages that are missing, or says which: scripts/apt.sh PACKAGE...
set -eu

command -v dpkg-query >/dev/null || exit 0
missing=""
for package in "$@"; do
    dpkg-query -W "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
    apt-get update -qq >&2
    # shellcheck disable=SC2086  # one word per package
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
else
    echo "apt.sh: missing; as root: apt-get install$missing" >&2
fi
