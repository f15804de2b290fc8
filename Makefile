# Two commands do everything on a fresh machine: `make demo` and `make test`.
# `make test-peers` adds the tests against big real peers, `make bench` the measurements.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo install wheel test lint test-peers bench clean

help:
	@echo "make demo        set up, then show an arm at work and say where the pictures are"
	@echo "make install     put the command citrange into ~/.local/bin (PREFIX=… elsewhere)"
	@echo "make wheel       build the Python package into out/wheels (pip install it from there)"
	@echo "make test        set up, then run the linters and all tests"
	@echo "make test-peers  tests against real peers (installed once, outside the clone)"
	@echo "make bench       measure against the peers and write benches/README.md"

setup:
	@scripts/setup.sh

demo: setup
	@scripts/build.sh
	@target/release/citrange demo

PREFIX ?= $(HOME)/.local
install: setup
	@scripts/build.sh
	@scripts/install.sh "$(PREFIX)/bin"

# For other machines with the C library of this one or a newer.
wheel: setup
	@cd python && "$$(../scripts/python_venv.sh)/bin/maturin" build --release --out ../out/wheels
	@ls -sh out/wheels/*.whl

# Cheapest first.
lint: setup
	cargo fmt --check
	cargo clippy --quiet --workspace --lib --bins -- -D warnings
	cargo clippy --quiet --workspace --tests --benches --examples -- -D warnings \
	  -A clippy::unwrap-used -A clippy::expect-used -A clippy::panic \
	  -A clippy::print-stdout -A clippy::print-stderr
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps

# Some tests press Ctrl-C or hang up, which the background jobs of a shell ignore.
test: lint
	env --default-signal=INT,HUP cargo test --workspace

test-peers: setup
	@env --default-signal=INT,HUP scripts/test_peers.sh

bench: setup
	@benches/run.sh

clean:
	cargo clean
	rm -rf out
