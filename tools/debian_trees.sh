#!/usr/bin/env bash
# Put what Debian 12 does not have into .tools/: gdb 16, Ruby 3.3 with rdbg 1.9, Emacs 30 with dape and Helix (trixie)
# into .tools/bin, Python 3.14 and 3.15 (sid) where tools/bootstrap.py finds them, gdb 18, lldb-dap 23, Delve 1.27 and its
# Go (sid) into .tools/sid, Wine 10 (sid), which tools/windows/pythons.py uses. Each suite is a tree of its own, whose programs run outside of it, with the tree's libraries.
# Needs root; debootstrap, patchelf and osslsigncode are installed if they are missing.
set -euo pipefail
TOOLS=$(cd "$(dirname "$0")/.." && pwd)/.tools
LIBRARIES=usr/lib/x86_64-linux-gnu
LOADER=usr/lib64/ld-linux-x86-64.so.2

tree() { # tree SUITE PACKAGES: make the tree, once
    local folder=$TOOLS/trees/$1
    [ "$(cat "$folder.complete" 2>/dev/null)" = "$2" ] && return
    rm -rf "$folder"
    mkdir -p "$folder"
    debootstrap --variant=minbase --include="$2" "$1" "$folder" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; return 1; }
    echo "$2" >"$folder.complete"
}

add() { # add SUITE PACKAGE...: install into a tree, once, what depends on one of several packages: debootstrap takes the first
    local folder=$TOOLS/trees/$1
    shift
    [ "$(cat "$folder/added" 2>/dev/null)" = "$*" ] && return
    {
        chroot "$folder" apt-get update -qq
        DEBIAN_FRONTEND=noninteractive chroot "$folder" apt-get install -y -qq --no-install-recommends \
            -o Dpkg::Options::=--force-unsafe-io "$@"
    } >"$folder.added.log" 2>&1 || { tail -20 "$folder.added.log" >&2; return 1; }
    echo "$*" >"$folder/added"
}

unpack() { # unpack SUITE PACKAGE...: put packages into a tree, once, without their scripts, which would run the tree's programs
    local folder=$TOOLS/trees/$1 archive
    shift
    [ "$(cat "$folder/unpacked" 2>/dev/null)" = "$*" ] && return
    {
        chroot "$folder" apt-get clean
        DEBIAN_FRONTEND=noninteractive chroot "$folder" apt-get install -y -qq --no-install-recommends --download-only "$@"
    } >"$folder.unpacked.log" 2>&1 || { tail -20 "$folder.unpacked.log" >&2; return 1; }
    for archive in "$folder"/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$archive" "$folder"
    done
    echo "$*" >"$folder/unpacked"
}

load_from() { # load_from SUITE PROGRAM [FOLDER]: have a program use the loader and the libraries of its tree
    local folder=$TOOLS/trees/$1
    [ "$(patchelf --print-interpreter "$folder/$2")" = "$folder/$LOADER" ] && return
    patchelf --set-interpreter "$folder/$LOADER" --force-rpath \
        --set-rpath "$folder/$LIBRARIES${3:+:$folder/$3}" "$folder/$2"
}

gdb_of() { # gdb_of SUITE FILE: write a command that runs the gdb of a tree
    local folder=$TOOLS/trees/$1
    # The tree's gdb finds its own Python by PYTHONHOME, which the program that is debugged must not inherit. What the
    # machine has for its libraries is used: printers of libstdc++, and the library that knows of threads.
    mkdir -p "$(dirname "$2")"
    cat >"$2" <<END
#!/bin/sh
export PYTHONHOME=$folder/usr
exec $folder/$LOADER --library-path $folder/$LIBRARIES --argv0 gdb \\
    $folder/usr/bin/gdb --data-directory=$folder/usr/share/gdb -iex "unset environment PYTHONHOME" \\
    -iex "set auto-load scripts-directory /usr/share/gdb/auto-load" \\
    -iex "set auto-load safe-path /usr/share/gdb/auto-load:/usr/lib:/lib" \\
    -iex "set libthread-db-search-path /$LIBRARIES" "\$@"
END
    chmod +x "$2"
    "$2" --version | head -n 1
}

ruby_3_3() {
    local folder=$TOOLS/trees/trixie
    local gems=$folder/usr/lib/ruby/gems/3.3.0
    cat >"$TOOLS/bin/ruby" <<END
#!/bin/sh
export RUBYLIB=$folder/usr/lib/ruby/3.3.0:$folder/$LIBRARIES/ruby/3.3.0:$folder/usr/lib/ruby/vendor_ruby GEM_PATH=$gems
exec $folder/$LOADER --library-path $folder/$LIBRARIES --argv0 ruby $folder/usr/bin/ruby3.3 "\$@"
END
    cat >"$TOOLS/bin/rdbg" <<END
#!/bin/sh
exec $TOOLS/bin/ruby $(echo "$gems"/gems/debug-*/exe/rdbg) "\$@"
END
    chmod +x "$TOOLS/bin/ruby" "$TOOLS/bin/rdbg"
    "$TOOLS/bin/rdbg" --version
}

emacs_30() {
    local folder=$TOOLS/trees/trixie
    # What Emacs was built to find in /usr is elsewhere: its dump, which it loads first, and its folders.
    cat >"$TOOLS/bin/emacs" <<END
#!/bin/sh
export EMACSLOADPATH=$folder/usr/share/emacs/30.1/lisp:$(echo "$folder"/usr/share/emacs/site-lisp/elpa/dape-*)
export EMACSDATA=$folder/usr/share/emacs/30.1/etc EMACSDOC=$folder/usr/share/emacs/30.1/etc
export EMACSPATH=$folder/usr/libexec/emacs/30.1/x86_64-linux-gnu
exec $folder/$LOADER --library-path $folder/$LIBRARIES --argv0 $folder/usr/bin/emacs-nox $folder/usr/bin/emacs-nox \\
    --dump-file=$(echo "$folder"/usr/libexec/emacs/30.1/x86_64-linux-gnu/emacs-*.pdmp) "\$@"
END
    chmod +x "$TOOLS/bin/emacs"
    "$TOOLS/bin/emacs" --batch --eval "(progn (require 'dape) (princ (format \"Emacs %s\n\" emacs-version)))"
}

helix() {
    local folder=$TOOLS/trees/trixie
    cat >"$TOOLS/bin/hx" <<END
#!/bin/sh
export HELIX_RUNTIME=$folder/usr/lib/hx/runtime
exec $folder/$LOADER --library-path $folder/$LIBRARIES --argv0 hx $folder/usr/lib/hx/hx "\$@"
END
    chmod +x "$TOOLS/bin/hx"
    "$TOOLS/bin/hx" --version
}

trixie() {
    tree trixie gdb,ruby
    mkdir -p "$TOOLS/bin"
    gdb_of trixie "$TOOLS/bin/gdb"
    ruby_3_3
    add trixie emacs-nox elpa-dape hx
    emacs_30
    helix
}

pythons() {
    local folder=$TOOLS/trees/sid version program
    tree sid python3.14,libpython3.14-testsuite,python3.15,libpython3.15-testsuite,gdb
    mkdir -p "$TOOLS/python"
    ln -sfn "$folder/usr" "$TOOLS/python/sid"
    for version in 3.14 3.15; do
        load_from sid "usr/bin/python$version"
        "$folder/usr/bin/python$version" --version
    done
}

newest_adapters() {
    local folder=$TOOLS/trees/sid llvm=usr/lib/llvm-23
    mkdir -p "$TOOLS/sid"
    gdb_of sid "$TOOLS/sid/gdb"
    unpack sid lldb-23 delve golang-go
    load_from sid $llvm/bin/lldb-dap $llvm/lib
    load_from sid $llvm/bin/lldb-server $llvm/lib
    patchelf --force-rpath --set-rpath "$folder/$LIBRARIES" "$folder/$LIBRARIES/liblldb-23.so.1" # it has a path of its own
    # LLDB's own Python is in the tree. A program that is debugged inherits PYTHONHOME: the tests have none in Python there.
    cat >"$TOOLS/sid/lldb-dap" <<END
#!/bin/sh
export PYTHONHOME=$folder/usr
exec $folder/$llvm/bin/lldb-dap "\$@"
END
    chmod +x "$TOOLS/sid/lldb-dap"
    "$TOOLS/sid/lldb-dap" --version | head -n 1
    load_from sid usr/bin/dlv
    ln -sfn "$folder/usr/bin/dlv" "$TOOLS/sid/dlv"
    ln -sfn "$folder/usr/lib/go-1.27/bin/go" "$TOOLS/sid/go"
    "$TOOLS/sid/dlv" version | sed -n 2p
    "$TOOLS/sid/go" version
}

wine() {
    # It runs outside of the tree, so that drive Z: is this machine. What it looks for in /usr/share is linked there.
    local sid=$TOOLS/trees/sid folder=$TOOLS/trees/wine package program
    if [ ! -e "$folder.complete" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        (cd "$sid/var/cache/apt/archives" && chroot "$sid" sh -c 'cd /var/cache/apt/archives && exec apt-get download -qq "$@"' \
            - wine64 libwine wine-common libz-mingw-w64 libunwind8) 2>"$folder.log" || { cat "$folder.log" >&2; return 1; }
        for package in wine64 libwine wine-common libz-mingw-w64 libunwind8; do
            dpkg-deb -x "$sid/var/cache/apt/archives/${package}"_*.deb "$folder"
        done
        rm -r "$folder/$LIBRARIES/wine/i386-windows"
        touch "$folder.complete"
    fi
    for program in wine wineserver; do
        program=$folder/$LIBRARIES/wine/$program
        [ "$(patchelf --print-interpreter "$program")" = "$sid/$LOADER" ] ||
            patchelf --set-interpreter "$sid/$LOADER" --force-rpath \
                --set-rpath "$folder/$LIBRARIES:$sid/$LIBRARIES" "$program"
    done
    [ -e /usr/share/wine ] && [ ! -L /usr/share/wine ] || ln -sfn "$folder/usr/share/wine" /usr/share/wine
    "$folder/$LIBRARIES/wine/wine" --version
}

missing=()
for tool in debootstrap patchelf osslsigncode; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
trixie &
trixie=$!
pythons
newest_adapters
wine
wait $trixie
