#!/usr/bin/env bash
# Fetches what a shallow checkout lacks, and judges BASE..HEAD by the file POLICY of BASE. The exit status is that
# of git agentxchain verify range.
set -euo pipefail
fail() { echo "::error title=git-agentxchain::$1" >&2; exit 2; }
BASE=${BASE:-} HEAD=${HEAD:-HEAD}
[ -n "${BASE//0/}" ] || fail "No base: this event has none (a new branch, a tag). Set the input base, such as origin/main."
case $BASE$HEAD in -*) fail "base and head are commits" ;; esac
git fetch --quiet --no-tags origin 'refs/agentxchain/*:refs/agentxchain/*' || fail "The record cannot be fetched from origin."
git rev-parse --quiet --verify "$BASE^{commit}" >/dev/null || git fetch --quiet --no-tags --depth=1 origin "$BASE" ||
	fail "The base $BASE is not on origin."
# Until the two meet; more than that is never fetched.
for depth in 50 200 1000 5000; do
	git merge-base "$BASE" "$HEAD" >/dev/null && break
	[ "$(git rev-parse --is-shallow-repository)" = true ] || break
	git fetch --quiet --no-tags "--deepen=$depth" origin "$BASE" "$(git rev-parse "$HEAD")" 2>/dev/null ||
		git fetch --quiet --no-tags "--deepen=$depth" origin
done
exec git agentxchain verify range "$BASE..$HEAD" ${POLICY:+--policy "$BASE:$POLICY"}
