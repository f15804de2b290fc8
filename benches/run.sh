#!/bin/sh
# Builds our side and runs all benchmarks, or those named: benches/run.sh step camera
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release -p citrange-bench
exec python3 benches/run.py "$@"
