#!/bin/sh
# prepare.sh DIR [PROGRAM]: makes what a release ships beside the binary, the same bytes for the same source:
# DIR/man (compressed manual pages), DIR/completion (scripts of the shells), and DIR/NOTICE (the
# modules that are linked, each with its licence). Fails when a module has no licence file.
# PROGRAM is a git-agentxchain of this source that is built already; without it one is built.
set -eu
cd "$(dirname "$0")/.."
out=$1
program=${2:-}
mkdir -p "$out/man" "$out/completion"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$program" ]; then
	program=$work/git-agentxchain
	# For the machine that builds, whatever the release is for.
	GOOS='' GOARCH='' CGO_ENABLED=0 go build -tags urfave_cli_no_docs -trimpath -o "$program" ./cmd/git-agentxchain
fi
"$program" man --install --to "$work/man" >/dev/null
for page in "$work"/man/*.1; do
	gzip -9 -n -c "$page" >"$out/man/$(basename "$page").gz"
done
"$program" completion bash >"$out/completion/git-agentxchain.bash"
"$program" completion zsh >"$out/completion/_git-agentxchain"
"$program" completion fish >"$out/completion/git-agentxchain.fish"

# What any of the released systems links.
for os in linux darwin windows; do
	GOOS=$os CGO_ENABLED=0 go list -deps -tags urfave_cli_no_docs \
		-f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/git-agentxchain
done | sort -u >"$work/modules"
{
	echo "git-agentxchain contains the following modules and the standard library of Go."
	while read -r path version dir; do
		found=
		for licence in "$dir"/[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]* "$dir"/COPYING* "$dir"/NOTICE*; do
			[ -f "$licence" ] || continue
			[ -n "$found" ] || printf '\n======== %s %s\n' "$path" "$version"
			found=yes
			printf '\n'
			cat "$licence"
		done
		if [ -z "$found" ]; then
			echo "$path $version has no licence file" >&2
			exit 1
		fi
	done <"$work/modules"
	printf '\n======== the Go standard library\n\n'
	cat "$(go env GOROOT)/LICENSE"
} >"$out/NOTICE"
