#!/bin/sh
# All tests. Tests that need a graphics adapter fail without one, instead of being skipped.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
"$root/scripts/setup.sh"
cd "$root"
THRONG_REQUIRE_GPU=1 exec cargo test --release --no-fail-fast "$@"
