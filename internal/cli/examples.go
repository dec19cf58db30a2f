// The examples that the help of each command ends with. A test reads and runs them.

package cli

import "strings"

// examples are lines to type for a command, in the order of the help; what follows "#"
// says what for.
func examples(command string) []string {
	for entry := range strings.SplitSeq(exampleText, "\n\n") {
		name, lines, _ := strings.Cut(strings.TrimSpace(entry), "\n")
		if name == command {
			return strings.Split(lines, "\n")
		}
	}
	return nil
}

// exampleText has one paragraph a command: its name, then its examples.
const exampleText = `
init
git agentxchain init --agent claude --goal "Count words in a file"
git agentxchain init --template cli-tool --yes

demo
git agentxchain demo
git agentxchain demo --keep

doctor
git agentxchain doctor
git agentxchain doctor --fix

agents install
git agentxchain agents install
git agentxchain agents install --check
git agentxchain agents install .claude/skills/governed/SKILL.md

assign
git agentxchain assign        # the role that is next
git agentxchain assign dev

step
git agentxchain step

run
git agentxchain run --dry-run # what would be done
git agentxchain run --max-turns 5

accept
git agentxchain accept --checkpoint

reject
git agentxchain reject --reason "The tests were not run"

reissue
git agentxchain reissue --reason "The agent lost its way"

approve
git agentxchain approve --show # what the answer is about
git agentxchain approve
git agentxchain approve --deny --reason "The spec leaves errors out"

approvals
git agentxchain approvals

attest
git agentxchain attest
git agentxchain attest main..HEAD

attest export
git agentxchain attest export -

confirm
git agentxchain confirm

escalate
git agentxchain escalate --reason "The licence has to be cleared first"

abandon
git agentxchain abandon --reason "The goal has changed"

claim
git agentxchain claim

unblock
git agentxchain unblock --reason "The licence is cleared"

reconcile
git agentxchain reconcile

checkpoint
git agentxchain checkpoint

objection list
git agentxchain objection list

objection close
git agentxchain objection close OBJ-003 --because "The write is synced now"

proposal list
git agentxchain proposal list

proposal show
git agentxchain proposal show

proposal diff
git agentxchain proposal diff

proposal apply
git agentxchain proposal apply
git agentxchain proposal apply --file count.sh

proposal reject
git agentxchain proposal reject --reason "It breaks the interface"

inject
git agentxchain inject "The count is wrong for empty files"

intake list
git agentxchain intake list

intake show
git agentxchain intake show intent_1

status
git agentxchain status
git agentxchain status --json --jq .next_action.command

history
git agentxchain history -n 5
git agentxchain history --json --jq '.turns[].summary'

decisions
git agentxchain decisions
git agentxchain decisions --role dev --all

events
git agentxchain events --follow
git agentxchain events --type gate_failed

escalations
git agentxchain escalations

log
git agentxchain log

show
git agentxchain show        # the newest operation
git agentxchain show --raw state

gate list
git agentxchain gate list

gate show
git agentxchain gate show
git agentxchain gate show qa_ship_verdict

gate retry
git agentxchain gate retry

turn edit
git agentxchain turn edit

turn log
git agentxchain turn log --follow
git agentxchain turn log --raw

turn show
git agentxchain turn show
git agentxchain turn show --artifact prompt

why
git agentxchain why agentxchain.json:1

explain
git agentxchain explain planning_signoff
git agentxchain explain dirty_tree

at
git agentxchain at HEAD~1 status

blame
git agentxchain blame agentxchain.json

whatif
git agentxchain whatif --set rules.result_repair=strict

bisect
git agentxchain bisect planning_signoff

policy test
git agentxchain policy test

simulate
git agentxchain simulate

validate
git agentxchain validate

verify turn
git agentxchain verify turn

verify bundle
git agentxchain verify bundle

verify export
git agentxchain verify export run.json

verify approvals
git agentxchain verify approvals

verify diff
git agentxchain verify diff old.json new.json

verify range
git agentxchain verify range main..HEAD
git agentxchain verify range --fetch origin/main..HEAD

config diff
git agentxchain config diff

config show
git agentxchain config show

config adopt
git agentxchain config adopt

hooks install
git agentxchain hooks install

hooks uninstall
git agentxchain hooks uninstall

hooks status
git agentxchain hooks status

hooks canary
git agentxchain hooks canary

hooks run
git agentxchain hooks run pre-commit

hooks show
git agentxchain hooks show

hooks trust
git agentxchain hooks trust --yes

fsck
git agentxchain fsck --replay
git agentxchain fsck --against origin
git agentxchain fsck --against run.bundle

witness
git agentxchain witness

repair
git agentxchain repair

export
git agentxchain export --output run.json

restore
git agentxchain restore run.json
git agentxchain restore initiative.json --repo api

sync
git agentxchain sync
git agentxchain sync upstream

runs list
git agentxchain runs list
git agentxchain runs list --archived

runs show
git agentxchain runs show run_7cd8c6c4

runs archive
git agentxchain runs archive --older-than 90d --dry-run

runs unarchive
git agentxchain runs unarchive run_7cd8c6c4

runs prune
git agentxchain runs prune --older-than 365d

conflicts
git agentxchain conflicts

audit
git agentxchain audit --format markdown

report
git agentxchain report run.json

diff
git agentxchain diff old.json new.json

ci-report
git agentxchain ci-report --format junit

replay export
git agentxchain replay
git agentxchain replay export run.json

merge-driver
git agentxchain merge-driver base.jsonl ours.jsonl theirs.jsonl

textconv
git agentxchain textconv .agentxchain/history.jsonl

multi init
git agentxchain multi init

multi status
git agentxchain multi status

multi barriers
git agentxchain multi barriers

multi step
git agentxchain multi step

multi run
git agentxchain multi run

multi approve-gate
git agentxchain multi approve-gate

multi resync
git agentxchain multi resync

multi restore
git agentxchain multi restore
git agentxchain multi restore --theirs origin
git agentxchain multi restore --input initiative.json

multi resume
git agentxchain multi resume

multi abandon
git agentxchain multi abandon --reason "the library will be replaced"

multi hooks
git agentxchain multi hooks

conformance check
git agentxchain conformance check --tier 1

conformance adapter
git agentxchain conformance adapter < request.json

conformance capabilities
git agentxchain conformance capabilities

conformance init
git agentxchain conformance init adapter

conformance serve
git agentxchain conformance serve

conformance list
git agentxchain conformance list

monarchic validate
git agentxchain monarchic validate plan.json

monarchic upgrade
git agentxchain monarchic upgrade plan.json

monarchic import
git agentxchain monarchic import plan.json

monarchic export
git agentxchain monarchic export

monarchic message send
git agentxchain monarchic message send body.json

monarchic message list
git agentxchain monarchic message list

monarchic message show
git agentxchain monarchic message show message_1

monarchic message ack
git agentxchain monarchic message ack message_1

monarchic proto
git agentxchain monarchic proto

monarchic serve
git agentxchain monarchic serve

monarchic lease list
git agentxchain monarchic lease list

monarchic lease show
git agentxchain monarchic lease show

monarchic lease revoke
git agentxchain monarchic lease revoke

serve
git agentxchain serve

import
git agentxchain import git-ai

alx hash
git agentxchain alx hash block.json

alx validate
git agentxchain alx validate block.json

alx settle
git agentxchain alx settle

alx conformance
git agentxchain alx conformance

dashboard
git agentxchain dashboard

dashboard stop
git agentxchain dashboard stop

mcp install
git agentxchain mcp install
git agentxchain mcp install --client claude --write

mcp
claude mcp add agentxchain -- git agentxchain mcp

timeline
git agentxchain timeline

version
git agentxchain version

help
git agentxchain help approve
git agentxchain help exit-codes

completion
git agentxchain completion bash

man
git agentxchain man --install
`
