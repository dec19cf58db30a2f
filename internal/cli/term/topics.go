// Help topics, as data.

package term

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// topic is one page of "help TOPIC".
type topic struct {
	name    string
	summary string
	text    func() string
}

func topics() []topic {
	return []topic{
		{"environment", "variables and git settings that change behaviour", environmentTopic},
		{"exit-codes", "what the exit status says, and the error codes behind it", exitCodesTopic},
		{"formats", "text, --json, --format and -z", formatsTopic},
		{"storage", "where a run is kept, and what a crash leaves", storageTopic},
		{"hooks", "lifecycle hooks and git hooks", hooksTopic},
		{"security", "what is defended, and what is not", securityTopic},
	}
}

func findTopic(name string) (topic, bool) {
	for _, t := range topics() {
		if t.name == name {
			return t, true
		}
	}
	return topic{}, false
}

func topicNames() []string {
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

func exitCodesTopic() string {
	var b strings.Builder
	b.WriteString("An exit status never changes its meaning. With --json the answer also carries\nerror.code, the stable token in the list below.\n")
	for _, row := range ExitTable() {
		fmt.Fprintf(&b, "\n%4d  %s\n", row.Status, row.Meaning)
		for _, c := range row.Codes {
			head, indent := fmt.Sprintf("    %-30s ", c.Code), strings.Repeat(" ", 35)
			if len(head) > len(indent) {
				head += "\n" + indent
			}
			b.WriteString(head + strings.Join(text.Wrap(c.Meaning, proseColumns-len(indent)), "\n"+indent) + "\n")
		}
	}
	b.WriteString("\nA code that is not listed exits 1. \"conformance adapter\" speaks the protocol of\n" +
		"its verifier and exits 0 pass, 1 fail, 2 error, 3 not implemented.\n")
	return b.String()
}

func environmentTopic() string {
	return `Variables
  AGENTXCHAIN_CORRELATION_ID  id of this command in answers, events and hook
                              payloads: letters, digits and "-_.:", at most
                              128; generated if absent or unusable
  AGENTXCHAIN_DEBUG           1 prints the stack of an internal error
  AGENTXCHAIN_TRUST           digest that "hooks show" prints: trusts exactly
                              what it showed; 1: trusts all that is configured
                              ("help hooks")
  NO_COLOR                    any value: no colour
  CLICOLOR                    0: no colour
  CLICOLOR_FORCE              anything but 0: colour also in pipes
  TERM                        dumb: no colour, and no pager unless one is named
  COLUMNS                     maximum width of lines, also in a pipe; default:
                              the width of the terminal
  GIT_PAGER, PAGER            the pager for long listings on a terminal; "cat"
                              for none; it gets LESS=FRX and LV=-c unless set
  GIT_EDITOR, VISUAL, EDITOR  the editor of "turn edit"; default: vi
  GIT_TERMINAL_PROMPT         0: never ask a question
  GIT_PROGRESS_DELAY          seconds before progress shows (default 1)
  XDG_DATA_HOME               where "man --install" puts the pages, if man
                              looks there

Git settings
  color.agentxchain, color.ui   colour on a terminal
  pager.agentxchain, core.pager the pager; pager.agentxchain may be a boolean
  core.editor                   the editor, after GIT_EDITOR
  agentxchain.*                 personal settings of single commands

Settings that a team shares are in agentxchain.json. Programs that a committed
file names run on another person's machine only with that person's consent.
The command line overrides the environment, and the environment git settings.
`
}

func formatsTopic() string {
	return `Text
  For people. It may change between releases. Times are relative and local,
  columns are aligned, control characters from files are made visible.

--json
  Every command. Exactly one object on stdout, errors and usage errors included:
    {"ok": true,  "correlationId": "...", "protocol": {...}, ...result}
    {"ok": false, "correlationId": "...", "protocol": {...},
     "error": {"code": "...", "message": "...", "hint": "...", "details": {}}}
  "code" is stable, "message" is not. The exit status is the same as without
  --json. Times are UTC, RFC 3339 with milliseconds. On a terminal the object is
  indented, in a pipe it is one line. New members may appear at any time.
  "events --follow --json" prints one event per line, and "attest --json" one
  statement per line, without "ok" and the members around it.

--format NAME
  Of commands whose output another document defines (conformance check, verify
  export, report, audit): that output alone.

-z
  Of commands that list paths: each path ends with NUL and is not quoted.

Flags may stand before or after arguments; "--" ends them. Single letters may be
joined. A flag's value is the next word or follows "=".
`
}

func storageTopic() string {
	return `Each run is a ref, refs/agentxchain/runs/<run id>. Each operation of the run is
a commit, and its first parent is the operation before. The tree of the commit
holds the governed files, the record of the operation and the dispatch bundles
of active turns. Ledgers are stored in segments of bounded size, so late
operations cost no more than early ones.

An operation happens when its ref moves. It takes the lock, computes, writes
objects, moves the ref by compare-and-swap, and then brings the files under
.agentxchain/ up to date. A crash leaves the run as it was before the operation
or after it, never in between. The next command brings the working files up to
the ref and says so.

.agentxchain/ has the layout of the reference implementation, so both tools can
be used in turn on one repository. Rows that another tool appended to a ledger
are recorded with the next command; a ledger that was rewritten or truncated is
refused as tampering.

No operation deletes, reverts or stashes your files.

  git agentxchain log          list the operations
  git agentxchain show OP      show one operation
  git agentxchain fsck         check objects, ledgers and the chain; --replay
                               computes every state again from the one before
  git agentxchain repair       correct what fsck found
`
}

func hooksTopic() string {
	return `There are two unrelated kinds of hook.

Lifecycle hooks are declared in agentxchain.json under "hooks". This program
runs them at fixed points of a turn:

  hook                runs                          what a block does
  before_assignment   before a turn is assigned     refuses the turn (exit 3)
  after_dispatch      before the bundle is sealed   blocks the run (exit 5)
  before_validation   before a result is validated  blocks the run (exit 5)
  after_validation    after a result is validated   blocks the run (exit 5)
  before_acceptance   before a result is recorded   blocks the run (exit 5)
  before_gate         before a gate is approved     blocks the run (exit 5)
  after_acceptance    after a result is recorded    only a warning
  on_escalation       after the run is blocked      only a warning

A blocked run keeps its turn. An advisory hook can only warn. Every answer is
recorded in .agentxchain/hook-audit.jsonl, even if the operation is refused. If
a hook changes files of the run, they are restored and the run is blocked (exit
12). After a block, correct the hook, then run the command that "status" names.

A hook is another person's program until you have approved it on this machine.
Until then, commands that would run it refuse before they change anything (exit
3, hooks_untrusted):

  git agentxchain hooks show        what would run, and whether it may
  git agentxchain hooks trust       approves exactly that; asks you again if a
                                    hook or one of its files changes
  git agentxchain hooks trust --revoke

Trust also covers runtimes, gate actions and webhooks; without it no webhook is
sent. --trust gives it for one command. In CI, set AGENTXCHAIN_TRUST to the
digest that "hooks show" prints: a pull request that changes a hook then cannot
run it. agentxchain.hookEnv in git's configuration names variables to pass on
to hooks.

Git hooks guard the repository itself. They refuse, for example, a commit that
edits the record of a run by hand, or a push that takes a run back. You install
them yourself:

  git agentxchain hooks install     adds them; existing hooks run first.
                                    --server: adds pre-receive on a server
  git agentxchain hooks status      checks that each guard still runs, as
                                    "status" and "doctor" do
  git agentxchain hooks canary      proves that they refuse known violations
  git agentxchain hooks uninstall   restores what was there, byte for byte
  git agentxchain hooks run NAME    called by the scripts, and by hook managers

If agentxchain.pushRuns in git's configuration is true, a push of a branch also
pushes runs; with "require" the branch is not pushed without them.
`
}

func securityTopic() string {
	return `Files in a repository are untrusted input: agentxchain.json, turn results,
ledgers, exports. They are read with limits on size and depth, they cannot name
paths outside the project, and their text cannot control your terminal.

The record of an approval says who approved and whether there was a terminal.
Inside a dispatched turn approvals are refused (exit 3, inside_dispatched_turn),
so an agent cannot approve its own gate by running the command.

Records are append-only and chained by git's object ids. "fsck" finds a
changed, missing or reordered record; "fsck --replay" proves that every state
follows from the one before by the rules.

The program does not defend against a person who may rewrite the refs of the
repository and of every clone. Against that, use signed approvals and keep a
copy of the ref elsewhere; docs/threat-model.md has the details.

Hooks, webhooks, gate actions and runtimes that agentxchain.json names run with
your rights, but only after you approved them on this machine ("help hooks").
Read that file before you run a project you do not know.
`
}
