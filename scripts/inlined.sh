#!/usr/bin/env bash
# Looks for vector instructions that a built binary calls as functions: scripts/inlined.sh [BINARY].
# Each is a closure or function of a kernel that the compiler did not inline into the code for the
# instruction set, and that is slow. Prints how many such calls each function makes.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${1:-target/release/citrange}
# Libraries of others that call them on purpose.
others='zlib_rs|std_detect|memchr|sha2|crc32fast|aho_corasick|simd_adler'
found=$(objdump -d -C --no-show-raw-insn "$binary" | awk '
  /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ /, "", name) }
  /call/ && /core_arch::x86/ { calls[name]++ }
  END { for (name in calls) print calls[name], name }' | grep -vE "$others" | sort -rn || true)
if [[ -n $found ]]; then
  echo "$found"
  echo "inlined: these call instructions of vectors as functions" >&2
  exit 1
fi
echo "inlined: $binary calls no instruction of vectors as a function"
