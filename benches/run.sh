#!/bin/sh
# Builds our side and runs all benchmarks, or those named: benches/run.sh step camera
# Perception: benches/run.sh space --clouds FOLDER. Planning: benches/run.sh plan. Recording (tape) has options and peers of its own: benches/run.sh tape --rounds 1
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release -p citrange-bench
if [ "${1:-}" = collect ]; then
    shift
    cargo build --quiet --release -p citrange-cli
    exec python3 benches/collect.py "$@"
fi
if [ "${1:-}" = plan ]; then
    shift
    cargo build --quiet --release -p citrange-cli
    exec python3 benches/plan.py "$@"
fi
if [ "${1:-}" = space ]; then
    shift
    cargo build --quiet --release -p citrange-cli
    exec python3 benches/space.py "$@"
fi
if [ "${1:-}" = tape ]; then
    shift
    exec python3 benches/tape.py "$@"
fi
python3 benches/run.py "$@"
if [ $# = 0 ]; then
    python3 benches/tape.py
fi
