#!/usr/bin/env bash
# Puts the built command into a folder, and says where it is and whether the PATH finds it.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$1
mkdir -p "$bin"
# By rename, so that a running citrange keeps its file.
cp target/release/citrange "$bin/.citrange.new"
mv "$bin/.citrange.new" "$bin/citrange"
echo "installed $bin/citrange ($(du -m "$bin/citrange" | cut -f1) MB); make demo shows what it does"
case ":$PATH:" in
  *":$bin:"*)
    found=$(command -v citrange || true)
    if [[ $found != "$bin/citrange" ]]; then
      echo "note: another one comes first on your PATH: $found"
    fi ;;
  *) echo "note: $bin is not on your PATH; for this shell: export PATH=\"$bin:\$PATH\"" ;;
esac
