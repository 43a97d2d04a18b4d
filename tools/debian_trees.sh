#!/usr/bin/env bash
# Put what Debian 12 does not have into .tools/: gdb 16 (trixie) as .tools/bin/gdb, Python 3.14 (sid) where
# tools/bootstrap.py finds it. Each comes as a tree of its own and runs outside of it, with the tree's libraries.
# Needs root, debootstrap and patchelf.
set -euo pipefail
TOOLS=$(cd "$(dirname "$0")/.." && pwd)/.tools
LIBRARIES=usr/lib/x86_64-linux-gnu
LOADER=usr/lib64/ld-linux-x86-64.so.2

tree() { # tree SUITE PACKAGE: make the tree, once
    local folder=$TOOLS/trees/$1
    [ -e "$folder.complete" ] && return
    rm -rf "$folder"
    mkdir -p "$folder"
    debootstrap --variant=minbase --include="$2" "$1" "$folder" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; return 1; }
    touch "$folder.complete"
}

gdb_16() {
    local folder=$TOOLS/trees/trixie
    tree trixie gdb
    mkdir -p "$TOOLS/bin"
    # The tree's gdb finds its own Python by PYTHONHOME, which the program that is debugged must not inherit.
    cat >"$TOOLS/bin/gdb" <<END
#!/bin/sh
export PYTHONHOME=$folder/usr
exec $folder/$LOADER --library-path $folder/$LIBRARIES --argv0 gdb \\
    $folder/usr/bin/gdb --data-directory=$folder/usr/share/gdb -iex "unset environment PYTHONHOME" "\$@"
END
    chmod +x "$TOOLS/bin/gdb"
    "$TOOLS/bin/gdb" --version | head -n 1
}

python_3_14() {
    local folder=$TOOLS/trees/sid
    tree sid python3.14
    local program=$folder/usr/bin/python3.14
    if [ "$(patchelf --print-interpreter "$program")" != "$folder/$LOADER" ]; then
        patchelf --set-interpreter "$folder/$LOADER" --force-rpath --set-rpath "$folder/$LIBRARIES" "$program"
    fi
    mkdir -p "$TOOLS/python"
    ln -sfn "$folder/usr" "$TOOLS/python/sid"
    "$program" --version
}

gdb_16 &
gdb=$!
python_3_14
wait $gdb
