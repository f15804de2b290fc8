#!/usr/bin/env bash
# AddressSanitizer over the crates that are unsafe inside, and those whose kernels load and store
# through them: scripts/sanitise.sh [CRATE...]. A long proof, not part of CI; its last result is in
# docs/proofs.md. The stable compiler has the runtime, so no nightly is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=("$@")
[[ ${#crates[@]} -gt 0 ]] || crates=(lanes robot cloud space render video)
host=$(rustc -vV | sed -n 's/^host: //p')
runtime=$(rustc --print sysroot)/lib/rustlib/$host/lib
if ! compgen -G "$runtime/librustc-*_rt.asan.a" > /dev/null; then
  echo "sanitise: this toolchain has no AddressSanitizer in $runtime" >&2
  exit 1
fi

packages=()
for crate in "${crates[@]}"; do packages+=(-p "citrange-$crate"); done
# A target folder of its own: everything is compiled anew with the sanitiser. With --target, build
# scripts and macros are not.
export CARGO_TARGET_DIR=${CITRANGE_SANITISE_TARGET:-target/sanitise}
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CARGO_INCREMENTAL=0
# Tests keep memory in statics; what is asked is whether anything outside of an object is touched.
# The sources of OpenH264 define two tables that the linker lays over each other (odr): not ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:detect_odr_violation=0:abort_on_error=0}
log=$CARGO_TARGET_DIR/last.log
mkdir -p "$CARGO_TARGET_DIR"
status=0
cargo test --target "$host" "${packages[@]}" --lib --tests --no-fail-fast 2>&1 | tee "$log" || status=$?

# Sums "N passed;" or "N failed;" over the result lines.
total() { awk -v word="$1;" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i == word) sum += $(i - 1) } END { print sum + 0 }' "$log"; }
findings=$(grep -c "ERROR: AddressSanitizer" "$log" || true)
echo "sanitise: ${crates[*]}: $(total passed) passed, $(total failed) failed, $findings findings of AddressSanitizer"
[[ $status -eq 0 && $findings -eq 0 ]]
