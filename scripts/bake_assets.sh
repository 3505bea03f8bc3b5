#!/bin/sh
# Rebuilds assets/baked, byte for byte: scripts/bake_assets.sh [PROGRAM]
set -eu
cd "$(dirname "$0")/.."
throng=${1:-target/release/throng}

bake() {
    source=$1 name=$2
    shift 2
    "$throng" bake "builtin:$source" -o "assets/baked/$name.vat.glb" --compression zstd --force --quiet "$@" >&2
}

bake flag flag
bake ribbon ribbon_rotation --fps 16 --normals rotation
bake ribbon ribbon_texture16 --fps 16
