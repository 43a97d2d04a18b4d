#!/usr/bin/env bash
# Build free-threaded Pythons from Debian's sources into .tools/python, where tools/bootstrap.py finds them as 3.13t,
# 3.14t and 3.15t. Debian has no packages of them. A version whose source cannot be had is named and left out.
#
#   tools/free_threaded.sh            all that are missing
#   tools/free_threaded.sh 3.14       one version
#
# Needs root, if a package to build with is missing. Built without optimization by profile and without Python's own tests.
set -euo pipefail
TOOLS=$(cd "$(dirname "$0")/.." && pwd)/.tools
WORK=$TOOLS/free-threaded
PACKAGES=(gcc make xz-utils dpkg-dev zlib1g-dev libssl-dev libffi-dev libbz2-dev liblzma-dev libsqlite3-dev libreadline-dev uuid-dev)

suite_of() { # suite_of VERSION: the suite of Debian that has its source
    case $1 in
    3.13) echo testing ;;
    *) echo sid ;;
    esac
}

apt_of() { # apt_of SUITE COMMAND...: apt-get with the sources of a suite alone, and with nothing of the machine's lists changed
    local folder=$WORK/$1
    shift
    apt-get -qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/lists" \
        -o Dir::Cache="$folder/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

fetch() { # fetch VERSION: its source, into $WORK/source-VERSION
    local suite
    suite=$(suite_of "$1")
    if [ ! -f "$WORK/$suite/sources.list" ]; then
        mkdir -p "$WORK/$suite/lists/partial" "$WORK/$suite/cache/archives/partial"
        echo "deb-src $(apt-get indextargets --format '$(SITE)' | head -n 1) $suite main" >"$WORK/$suite/sources.list"
        apt_of "$suite" update
    fi
    mkdir -p "$WORK/source-$1"
    (cd "$WORK/source-$1" && apt_of "$suite" source --download-only "python$1" && tar --strip-components=1 -xf python*.orig.tar.xz)
}

build() { # build VERSION: what was fetched
    local prefix=$TOOLS/python/$1t
    cd "$WORK/source-$1"
    ./configure --quiet --disable-gil --disable-test-modules --without-ensurepip --prefix="$prefix" CFLAGS=-O2
    make -s -j"$(nproc)"
    make -s altinstall
    cd "$TOOLS"
    rm -rf "$WORK/source-$1"
}

missing=()
for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=600 "${missing[@]}" >/dev/null
fi

mkdir -p "$TOOLS/python" "$WORK"
for version in ${1:-3.13 3.14 3.15}; do
    program=$TOOLS/python/${version}t/bin/python${version}t
    if ! "$program" -c "" 2>/dev/null; then
        if ! fetch "$version" >"$WORK/$version.log" 2>&1; then
            echo "Python ${version}t is not built: Debian's source of python$version cannot be had: $(tail -n 1 "$WORK/$version.log")"
            continue
        fi
        build "$version" >"$WORK/$version.log" 2>&1 || { tail -n 20 "$WORK/$version.log" >&2; exit 1; }
    fi
    "$program" -VV
done
