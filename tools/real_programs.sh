#!/usr/bin/env bash
# Build real programs to debug, from Debian's source packages, into .tools/programs/:
#
#   lua-5.4.4/       C: the interpreter of Lua, with its assertions
#   jsoncpp-1.9.5/   C++: a program that reads JSON and writes it again
#   toml-1.2.0/      Go: a program that checks TOML
#   bin/             what is built of them
#     lua, jsontestrunner, tomlv               for a debugger: with debug information, not optimized
#     lua-O2, jsontestrunner-O2, tomlv-O2      optimized, with debug information whose paths are not those of the
#                                              sources: /usr/src/lua-5.4.4/..., /usr/src/jsoncpp-1.9.5/..., and
#                                              github.com/BurntSushi/toml/... (-trimpath)
#     jsonuncaught, tomlpanic                  a main of some lines over the library of each, which ends by an
#                                              exception that nothing catches, and by a panic
#
# Tests take them by tests/real_programs.py. It takes half a minute, once, and needs apt (not root), cc, c++ and go.
# The sources are those of Debian 12, with checksums; the revisions that Debian makes of them do not matter.
set -euo pipefail
TOOLS=$(cd "$(dirname "$0")/.." && pwd -P)/.tools
mkdir -p "$TOOLS"
TOOLS=$(cd "$TOOLS" && pwd -P)
PROGRAMS=$TOOLS/programs
SOURCES=$TOOLS/cache/sources
VERSION=$(sha256sum "$0" | cut -c1-64)

fetch() { # fetch: the archives of the sources, through apt
    local apt=$SOURCES/apt options
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "deb-src http://deb.debian.org/debian bookworm main" >"$apt/sources.list"
    options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
        -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
    apt-get "${options[@]}" update
    (cd "$SOURCES" && apt-get "${options[@]}" source --download-only lua5.4 libjsoncpp golang-toml)
    rm -rf "$apt"
}

archives_are_there() {
    (cd "$SOURCES" && sha256sum --check --status) <<END
164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61  lua5.4_5.4.4.orig.tar.gz
f409856e5920c18d0c2fb85276e24ee607d2a09b5e7d5f0a371368903c275da2  libjsoncpp_1.9.5.orig.tar.gz
6d2c4df3fafa85b6d1437f1963dcd8a72e49cd167ed46fe950b309ca13ed3b50  golang-toml_1.2.0.orig.tar.xz
END
}

unpack() { # unpack ARCHIVE FOLDER
    mkdir -p "$2"
    tar -xf "$SOURCES/$1" -C "$2" --strip-components=1
    cd "$2"
}

build() { # build COMPILER PROGRAM OPTIONS SOURCES...: in the present folder, two files at a time
    local compiler=$1 program=$2 options=$3 objects
    shift 3
    objects=$(mktemp -d)
    printf '%s\0' "$@" | xargs -0 -P 2 -I{} sh -c "$compiler $options -c '{}' -o $objects/\$(basename '{}').o"
    "$compiler" -o "$PROGRAMS/bin/$program" "$objects"/*.o -lm
    rm -rf "$objects"
}

lua() {
    unpack lua5.4_5.4.4.orig.tar.gz "$PROGRAMS/lua-5.4.4"
    cd src
    rm luac.c
    build cc lua "-g -O0 -DLUA_USE_POSIX -DLUAI_ASSERT" ./*.c
    build cc lua-O2 "-g -O2 -DLUA_USE_POSIX -DLUAI_ASSERT -fdebug-prefix-map=$PROGRAMS=/usr/src" ./*.c
}

jsoncpp() {
    unpack libjsoncpp_1.9.5.orig.tar.gz "$PROGRAMS/jsoncpp-1.9.5"
    cat >src/uncaught.cpp <<END
#include <iostream>
#include <json/json.h>

int main() {
  Json::Value settings;
  settings["port"] = "eighty";
  std::cout << "port " << settings["port"].asInt() << std::endl;
  return 0;
}
END
    local options="-Iinclude -Isrc/lib_json -g" library=(src/lib_json/*.cpp)
    build c++ jsontestrunner "$options -O0" "${library[@]}" src/jsontestrunner/main.cpp
    build c++ jsontestrunner-O2 "$options -O2 -fdebug-prefix-map=$PROGRAMS=/usr/src" "${library[@]}" src/jsontestrunner/main.cpp
    build c++ jsonuncaught "$options -O0" "${library[@]}" src/uncaught.cpp
}

toml() {
    unpack golang-toml_1.2.0.orig.tar.xz "$PROGRAMS/toml-1.2.0"
    mkdir cmd/tomlpanic
    cat >cmd/tomlpanic/main.go <<END
package main

import (
	"fmt"

	"github.com/BurntSushi/toml"
)

func keysOf(title string, read *toml.MetaData) []toml.Key {
	fmt.Println("keys of", title)
	return read.Keys()
}

func main() {
	fmt.Println(keysOf("nothing", nil))
}
END
    export CGO_ENABLED=0 GOPROXY=off GOFLAGS=-buildvcs=false
    go build -gcflags="github.com/BurntSushi/...=-N -l" -o "$PROGRAMS/bin/tomlv" ./cmd/tomlv
    go build -gcflags="github.com/BurntSushi/...=-N -l" -o "$PROGRAMS/bin/tomlpanic" ./cmd/tomlpanic
    go build -trimpath -o "$PROGRAMS/bin/tomlv-O2" ./cmd/tomlv
}

mkdir -p "$SOURCES"
exec 9>"$SOURCES/lock"
flock 9
[ "$(cat "$PROGRAMS/complete" 2>/dev/null)" != "$VERSION" ] || exit 0
archives_are_there 2>/dev/null || fetch
archives_are_there || { echo "Debian has other sources than these programs are made of" >&2; exit 1; }
rm -rf "$PROGRAMS"
mkdir -p "$PROGRAMS/bin"
(toml) &
toml=$!
(lua)
(jsoncpp)
wait $toml
ls "$PROGRAMS/bin"
echo "$VERSION" >"$PROGRAMS/complete"
