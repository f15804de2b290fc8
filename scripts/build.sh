#!/usr/bin/env bash
# Builds the command `citrange` for use, and shows that it builds: cargo's bar in a terminal, a line
# for each crate in a pipe.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=target/release/citrange
if [[ ! -x $binary ]]; then
  echo "build: a first build takes about 6 minutes on 2 cores; later ones are short" >&2
fi
# cargo tells its progress on stderr: a bar in a terminal, `Compiling NAME` lines elsewhere.
cargo build --release -p citrange-cli
