#!/usr/bin/env bash
# Tests against big real peers. They live in a cache folder outside the clone, installed once.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="${CITRANGE_CACHE:-$HOME/.cache/citrange}"
say() { echo "peers: $*" >&2; }

# Licences and sources of every dependency.
deny="$cache/tools/bin/cargo-deny"
if [[ ! -x $deny ]]; then
  say "building cargo-deny (once, some minutes)"
  cargo install --quiet --locked cargo-deny --version 0.20.2 --root "$cache/tools"
fi
"$deny" --log-level error check licenses bans sources

# The real MuJoCo in Python.
venv=$(scripts/peers.sh)
cargo build --quiet --release -p citrange-cli -p citrange-bench
export CITRANGE_BIN="$PWD/target/release/citrange" CITRANGE_BENCH_BIN="$PWD/target/release/citrange-bench"
"$venv/bin/python" -m pytest -q peers
