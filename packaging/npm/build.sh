#!/usr/bin/env bash
# build.sh VERSION DIST OUT: makes the npm packages of a release from the archives in DIST, as goreleaser leaves them:
# OUT/git-agentxchain, which starts the program, and OUT/PLATFORM-ARCH for each archive there is. To publish them:
# npm publish --access public, in each, the platforms first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$1 dist=$2 out=$3
mkdir -p "$out"
optional=
describe() { # describe DIR NAME MEMBERS
	cat >"$out/$1/package.json" <<-END
		{
		  "name": "$2",
		  "version": "$version",
		  "description": "Governed work by agents and people, kept in git",
		  "license": "Apache-2.0",
		  "repository": "github:git-agentxchain/git-agentxchain",
		  $3
		}
	END
	cp "$here/../../LICENSE" "$out/$1/"
}
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	os=${target%/*} arch=${target#*/}
	archive=("$dist"/git-agentxchain_*_"${os}_$arch".tar.gz "$dist"/git-agentxchain_*_"${os}_$arch".zip)
	for file in "${archive[@]}"; do
		[ -f "$file" ] || continue
		platform=${os/windows/win32} cpu=${arch/amd64/x64}
		mkdir -p "$out/$platform-$cpu"
		case $file in
		*.zip) unzip -q -o -j "$file" git-agentxchain.exe NOTICE -d "$out/$platform-$cpu" ;;
		*) tar -xzf "$file" -C "$out/$platform-$cpu" git-agentxchain NOTICE ;;
		esac
		describe "$platform-$cpu" "@git-agentxchain/$platform-$cpu" "\"os\": [\"$platform\"], \"cpu\": [\"$cpu\"]"
		optional="$optional${optional:+, }\"@git-agentxchain/$platform-$cpu\": \"$version\""
	done
done
[ -n "$optional" ] || { echo "no archives of git-agentxchain in $dist" >&2; exit 1; }
mkdir -p "$out/git-agentxchain"
cp "$here/launch.js" "$here/../../README.md" "$out/git-agentxchain/"
describe git-agentxchain git-agentxchain "\"bin\": {\"git-agentxchain\": \"launch.js\"}, \"engines\": {\"node\": \">=18\"}, \"optionalDependencies\": {$optional}"
