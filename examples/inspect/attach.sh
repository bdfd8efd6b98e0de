#!/usr/bin/env bash
# The newest conversation as one page, to attach to a pull request: examples/inspect/attach.sh what-happened.html
set -eu
id=$(ona inspect --json | node -pe 'JSON.parse(fs.readFileSync(0, "utf8"))[0].id')
ona inspect --conversation "$id" --html "${1:-what-happened.html}"
