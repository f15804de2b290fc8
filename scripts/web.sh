#!/bin/sh
# Brings three.js, the one library of the studio's page: from npm, checked, once per machine.
# Prints the folder it lies in. Quick when it is there.
set -eu

version=0.178.0
sha256=f9f1b23202c4697cbca9d97369559855517a7d0089f6c70f88014ce7deec474d

web="${CITRANGE_CACHE:-$HOME/.cache/citrange}/web"
folder="$web/three-$version"
if [ -f "$folder/three.module.min.js" ] && [ -f "$folder/three.core.min.js" ] \
  && [ -f "$folder/LICENSE" ]; then
  echo "$folder"
  exit 0
fi

say() { echo "web: $*" >&2; }
if ! command -v npm >/dev/null; then
  say "npm is missing, and three.js $version is not in $folder; install npm, or run 'make setup'"
  exit 1
fi

mkdir -p "$web"
work=$(mktemp -d "$web/.three.XXXXXX")
trap 'rm -rf "$work"' EXIT
say "fetching three.js $version"
if ! (cd "$work" && npm pack --silent "three@$version" >/dev/null); then
  say "npm could not fetch three@$version; is the network there?"
  exit 1
fi
found=$(sha256sum "$work/three-$version.tgz" | cut -d ' ' -f 1)
if [ "$found" != "$sha256" ]; then
  say "three-$version.tgz has sha256 $found, $sha256 is right; not used"
  exit 1
fi
mkdir "$work/new"
tar -xzf "$work/three-$version.tgz" -C "$work/new" --strip-components=1 package/LICENSE
tar -xzf "$work/three-$version.tgz" -C "$work/new" --strip-components=2 \
  package/build/three.module.min.js package/build/three.core.min.js
sync "$work/new/LICENSE" "$work/new/three.module.min.js" "$work/new/three.core.min.js"
# An incomplete folder gives way; one that another run has just put there is as good as ours.
rm -rf "$folder"
mv -T "$work/new" "$folder" 2>/dev/null || [ -f "$folder/LICENSE" ]
echo "$folder"
