#!/bin/sh
# Fails the build when the model, asked for a verdict in a fixed form, finds a blocking problem in the change.
set -eu
schema='{"type":"object","properties":{"blocking":{"type":"boolean"},"why":{"type":"string"}},"required":["blocking","why"]}'
verdict=$(git diff "${BASE:-HEAD~1}" | "${ONA:-ona}" -p "Review this change." --tools Read,Grep,Glob --max-turns 20 --json-schema "$schema")
echo "$verdict"
case "$verdict" in *'"blocking":true'*) exit 1 ;; esac
