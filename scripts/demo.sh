#!/bin/sh
# The demo: a crowd in a window, or without a display as throng-demo.png and throng-demo.gif in this folder.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
"$root/scripts/setup.sh"
exec cargo run --release --quiet --manifest-path "$root/Cargo.toml" -- "$@"
