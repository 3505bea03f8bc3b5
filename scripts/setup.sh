#!/bin/sh
# Looks for a Vulkan driver and a C++ compiler and, only where there is none, installs the software driver and g++.
set -eu

say() { printf 'setup: %s\n' "$*"; }

# A driver is announced by a manifest, and reached through the loader library.
has_manifest() {
    for named in "${VK_DRIVER_FILES:-}" "${VK_ICD_FILENAMES:-}"; do
        [ -n "$named" ] && return 0
    done
    for folder in /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d /etc/vulkan/icd.d \
        "${XDG_DATA_HOME:-${HOME:-/nonexistent}/.local/share}/vulkan/icd.d"; do
        for manifest in "$folder"/*.json; do
            [ -e "$manifest" ] && return 0
        done
    done
    return 1
}

has_loader() {
    for library in /usr/lib/*/libvulkan.so.1 /usr/lib64/libvulkan.so.1 /usr/lib/libvulkan.so.1 \
        /usr/local/lib/libvulkan.so.1; do
        [ -e "$library" ] && return 0
    done
    PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1'
}

case "$(uname -s)" in
    Linux) ;;
    *) say "nothing to do: the graphics driver of this system is used"; exit 0 ;;
esac

packages=""
missing=""
if has_manifest && has_loader; then
    say "a Vulkan driver is there"
else
    packages="libvulkan1 mesa-vulkan-drivers"
    missing="no Vulkan driver"
fi
# The mesh optimizer is written in C++.
if ! command -v c++ >/dev/null 2>&1 && ! command -v g++ >/dev/null 2>&1 && [ -z "${CXX:-}" ]; then
    packages="$packages g++"
    missing="${missing:+$missing, }no C++ compiler"
fi
[ -n "$packages" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    say "found $missing. Install with your package manager:"
    say "  Fedora: sudo dnf install vulkan-loader mesa-vulkan-drivers gcc-c++"
    say "  Arch:   sudo pacman -S vulkan-icd-loader vulkan-swrast gcc"
    exit 1
fi

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root="sudo"
else
    say "found $missing, and neither root nor sudo to install it. Run as root:"
    say "  apt-get update && apt-get install -y --no-install-recommends $packages"
    exit 1
fi

say "found $missing: installing $packages"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # words are packages
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
say "done"
