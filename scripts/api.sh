#!/usr/bin/env bash
# Compares the exported API with that of the last release, which is the last tag v*. Fails when a name that other modules
# can use has changed incompatibly and the version to come differs from the last one in its patch number alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
apidiff=golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e

last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [ -z "$last" ]; then
	echo "api: there is no release to compare with"
	exit 0
fi
next=v$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/reprise/version.go)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
git archive "$last" | tar -x -C "$tmp"
(cd "$tmp" && go run "$apidiff" -m -w "$tmp/last.api" github.com/reprise-gpu/reprise)
go run "$apidiff" -m -w "$tmp/next.api" github.com/reprise-gpu/reprise
go run "$apidiff" -m "$tmp/last.api" "$tmp/next.api"
changed=$(go run "$apidiff" -m -incompatible "$tmp/last.api" "$tmp/next.api")
if [ -n "$changed" ] && [ "${last%.*}" = "$(sed 's/\.[^.]*$//' <<<"${next%-dev}")" ]; then
	echo "api: these changes since $last are incompatible, and $next is no new minor version" >&2
	exit 1
fi
