#!/usr/bin/env bash
# Judges BASE..HEAD by the file POLICY of BASE, after fetching what a shallow checkout lacks. The exit status is that
# of git agentxchain verify range.
set -euo pipefail
fail() { echo "::error title=git-agentxchain::$1" >&2; exit 2; }
BASE=${BASE:-} HEAD=${HEAD:-HEAD}
[ -n "${BASE//0/}" ] || fail "No base: this event has none (a new branch, a tag). Set the input base, such as origin/main."
case $BASE$HEAD in -*) fail "base and head are commits" ;; esac
said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0
git agentxchain verify range --fetch "$BASE..$HEAD" ${POLICY:+--policy "$BASE:$POLICY"} 2>"$said" || status=$?
cat "$said" >&2
# A verdict annotates the files itself; what kept it from being given is an annotation of the job.
why=$(sed -n '1s/^error: //p' "$said")
[ -z "$why" ] || echo "::error title=git-agentxchain::$why" >&2
exit "$status"
