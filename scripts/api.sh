#!/usr/bin/env bash
# Compares the exported API with that of the last release, the last tag v*. Fails if an exported name of an importable
# package has changed incompatibly and only the patch number of the next version differs from the last one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
apidiff=golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e

last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [ -z "$last" ]; then
	echo "api: there is no release to compare with"
	exit 0
fi
next=v$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/release/release.go)
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
