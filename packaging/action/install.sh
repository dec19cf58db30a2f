#!/usr/bin/env bash
# Puts git-agentxchain on the path of the job's later steps: the release VERSION from RELEASES, whose archive has
# to have the SHA-256 SHA256, or without VERSION a build of this very source.
set -euo pipefail
fail() { echo "::error title=git-agentxchain::$1" >&2; exit 2; }
bin=${RUNNER_TEMP:?}/git-agentxchain/bin
mkdir -p "$bin"
if [ -z "${VERSION:-}" ]; then
	command -v go >/dev/null || fail "Without version the program is built from source, which needs Go: run actions/setup-go first."
	cd "${GITHUB_ACTION_PATH:?}"
	CGO_ENABLED=0 go build -trimpath -tags urfave_cli_no_docs -o "$bin/git-agentxchain" ./cmd/git-agentxchain
else
	VERSION=${VERSION#v} # as the tag of the release has it
	case $VERSION in *[!0-9A-Za-z.+-]*) fail "version is a number such as 0.1.0" ;; esac
	SHA256=$(tr A-F a-f <<<"${SHA256:-}")
	[ -n "$SHA256" ] || fail "sha256 is missing: the one of the archive, from the checksums.txt that you have checked."
	case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "no archive for $(uname -s): leave out version" ;; esac
	case $(uname -m) in x86_64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "no archive for $(uname -m): leave out version" ;; esac
	archive=$RUNNER_TEMP/git-agentxchain/archive.tar.gz
	curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$archive" \
		"$RELEASES/v$VERSION/git-agentxchain_${VERSION}_${os}_$arch.tar.gz" || fail "The release $VERSION cannot be downloaded."
	sum=$({ sha256sum "$archive" 2>/dev/null || shasum -a 256 "$archive"; } | cut -d' ' -f1)
	[ "$sum" = "$SHA256" ] || fail "The archive has the SHA-256 $sum, not $SHA256. It is not installed."
	tar -xzf "$archive" -C "$bin" git-agentxchain
fi
echo "$bin" >>"${GITHUB_PATH:?}"
"$bin/git-agentxchain" version
