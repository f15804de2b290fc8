# Benchmarks against bare MuJoCo and its Python package; about ten minutes, see benches/README.md.
.PHONY: bench
bench:
	cargo build --release -p citrange-bench
	python3 benches/run.py
