#!/usr/bin/env bash
# Gathers in one folder, and a .tar.gz beside it, what gpu-check.sh runs: the tool and tests
# compiled with the tag cuda, the programs that the tool compares with, and the sources that they
# read. Run it as `make gpu-bundle`, which builds what it takes and sets the variables that cgo needs.
#
#   gpu-bundle.sh FOLDER PROGRAM...
#
# The binaries need glibc, since only a dynamic program can load the driver, and not one older than that of
# this machine asks for; bundle.env says which. For older systems, make the bundle on one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$1
shift
go=${GO:-go}
packages=(cuda cuda/include) # whose tests are run there
rm -rf "$folder" "$folder.tar.gz"
mkdir -p "$folder/bin" "$folder/tests" "$folder/src" "$folder/build/baseline"

git ls-files -z | tar --null --files-from=- --create --file=- | tar --extract --file=- --directory="$folder/src"
cp scripts/gpu-check.sh "$folder/"
cp bin/reprise "$folder/bin/"
cp "$@" "$folder/build/baseline/" # where bin/reprise looks for them
for package in "${packages[@]}"; do
	"$go" test -c -tags cuda -o "$folder/tests/${package//\//-}.test" "./$package"
done

# The newest version of glibc that any symbol is of.
glibc=$(objdump -T "$folder"/bin/* "$folder"/tests/* "$folder"/build/baseline/* 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
{
	echo "commit=$(git describe --always --dirty --abbrev=12)"
	echo "built=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	echo "glibc=${glibc#GLIBC_}"
} >"$folder/bundle.env"

tar --create --gzip --file="$folder.tar.gz" --directory="$(dirname "$folder")" "$(basename "$folder")"
echo "$folder.tar.gz: $(du -h "$folder.tar.gz" | cut -f1), needs glibc ${glibc#GLIBC_}"
