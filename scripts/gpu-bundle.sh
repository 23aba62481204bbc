#!/usr/bin/env bash
# Collects the files for gpu-check.sh in a folder and a .tar.gz of it: the tool and tests
# compiled with the tag cuda, the C++ programs that the tool compares with, and the sources that they
# read. Run it as `make gpu-bundle`, which builds its inputs and sets the variables of cgo.
#
#   gpu-bundle.sh FOLDER PROGRAM...
#
# The binaries require glibc, because only a dynamic program can load the driver. The least version depends on the glibc
# of this machine; bundle.env contains it. For an older system, build the bundle on one.
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

# The newest version of glibc that a symbol requires.
glibc=$(objdump -T "$folder"/bin/* "$folder"/tests/* "$folder"/build/baseline/* 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
{
	echo "commit=$(git describe --always --dirty --abbrev=12)"
	echo "built=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	echo "glibc=${glibc#GLIBC_}"
} >"$folder/bundle.env"

tar --create --gzip --file="$folder.tar.gz" --directory="$(dirname "$folder")" "$(basename "$folder")"
echo "$folder.tar.gz: $(du -h "$folder.tar.gz" | cut -f1), needs glibc ${glibc#GLIBC_}"
