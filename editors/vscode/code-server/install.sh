#!/bin/sh
# Install what the test in the browser needs: Chromium, from the system's packages, and code-server as package-lock.json
# names it. Its own installation step would fetch programs from outside of the registry (ripgrep), which nothing here
# needs; the modules in C++ that it does need are compiled.
set -eu
cd "$(dirname "$0")"

missing=
command -v chromium >/dev/null || missing="$missing chromium"
command -v c++ >/dev/null || missing="$missing g++"
command -v make >/dev/null || missing="$missing make"
if [ -n "$missing" ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
fi

# The headers of node lie beside it; without them the compilation would fetch them.
prefix=$(dirname "$(dirname "$(command -v node)")")
if [ -e "$prefix/include/node/node.h" ]; then
    export npm_config_nodedir="$prefix"
fi

npm ci --ignore-scripts --no-audit --no-fund
npm rebuild argon2
cd node_modules/code-server/lib/vscode
npm install --ignore-scripts --omit=dev --no-audit --no-fund
npm_config_yes=true npm rebuild @vscode/deviceid @vscode/spdlog native-watchdog node-pty
ln -sfn node_modules node_modules.asar
