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
  AGENTXCHAIN_CORRELATION_ID  names this invocation in envelopes, events and
                              hook payloads; letters, digits and "-_.:", at
                              most 128; made up when absent or unusable
  AGENTXCHAIN_DEBUG           1 prints the stack of an internal error
  AGENTXCHAIN_TRUST           digest of "hooks show": those hooks and webhooks
                              may be used; 1: all that are configured
                              ("help hooks")
  NO_COLOR                    any value: no colour
  CLICOLOR, CLICOLOR_FORCE    0: no colour; FORCE other than 0: colour in pipes
  TERM                        dumb: no colour, and no pager unless one is named
  COLUMNS                     how wide lines may be, also in a pipe; without it
                              as wide as the terminal
  GIT_PAGER, PAGER            the pager of long listings on a terminal; "cat"
                              for none; LESS=FRX and LV=-c unless set
  GIT_EDITOR, VISUAL, EDITOR  the editor of "turn edit"; vi without any
  GIT_TERMINAL_PROMPT         0: never ask a question
  GIT_PROGRESS_DELAY          seconds before progress shows (default 1)
  XDG_DATA_HOME               where "man --install" puts the pages, when
                              man looks there

Git settings
  color.agentxchain, color.ui   colour on a terminal
  pager.agentxchain, core.pager the pager; pager.agentxchain may be a boolean
  core.editor                   the editor, after GIT_EDITOR
  agentxchain.*                 personal settings of single commands

Settings that a team shares live in agentxchain.json. A committed file never
names code that runs on another person's machine without that person's consent.
The command line wins over the environment, the environment over git settings.
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
  "events --follow --json" prints one event a line and no envelope.

--format NAME
  Where another document fixes the shape (conformance check, verify export,
  report, audit): that shape, bare, without the envelope.

-z
  Where paths are listed: each path ends in NUL, unquoted, byte for byte.

Flags may stand before or after arguments; "--" ends them. Single letters may be
joined. A flag's value is the next word or follows "=".
`
}

func storageTopic() string {
	return `One ref per run, refs/agentxchain/runs/<run id>; one commit per operation, a
first-parent chain. The tree of a commit holds the governed files, the record of
the operation and the dispatch bundles of active turns. Ledgers are kept in
segments of bounded size, so an operation costs the same early and late.

The ref update is the moment of truth. An operation takes the lock, computes,
writes objects, moves the ref by compare-and-swap, then brings the files under
.agentxchain/ up to date. A crash leaves the old run or the new run, never a
mix; the next command rolls working files forward from the ref and says so.

.agentxchain/ has the layout of the reference implementation, so both tools can
take turns on one repository. What somebody else appended there is absorbed; a
ledger that was rewritten or truncated is refused as tampering.

No operation deletes, reverts or stashes your files.

  git agentxchain log          the chain of operations
  git agentxchain show OP      one of them
  git agentxchain fsck         objects, ledgers and chain; --replay recomputes
                               every recorded state from the one before
  git agentxchain repair       after fsck found something
`
}

func hooksTopic() string {
	return `Two kinds of hook, which have nothing to do with each other.

Lifecycle hooks are declared in agentxchain.json under "hooks" and run by this
program around an assignment, an acceptance, a gate approval and so on:

  before_assignment   before a role is given a turn   refuses it (exit 3)
  after_dispatch      the bundle lies there, unsealed
  before_validation   before a staged result is read
  after_validation    what the validation found       blocks the run (exit 5);
  before_acceptance   just before it is recorded      the turn is kept
  before_gate         before a gate's approval
  after_acceptance    after it is recorded            can only comment
  on_escalation       the run is blocked              can only comment

A blocking hook can say no; an advisory one can only comment. What each one
said is recorded in .agentxchain/hook-audit.jsonl, whatever became of the
operation. A hook that changes files of the run is caught, the files are put
back, and the run is blocked (exit 12). After a block: mend the hook, then run
the command that status names.

A hook is somebody else's program until you have agreed to it. On a machine
where that has not happened, commands that would run one stop before anything
is done (exit 3, hooks_untrusted):

  git agentxchain hooks show        what would run, and whether it may
  git agentxchain hooks trust       agree to exactly that; asked again when a
                                    hook or one of its files changes
  git agentxchain hooks trust --revoke

For one command there is --trust; for CI the environment variable
AGENTXCHAIN_TRUST, best set to the digest that "hooks show" prints: then a pull
request that changes a hook does not run it. The same leave covers webhooks,
which otherwise are not sent, and gate actions. agentxchain.hookEnv in git's
configuration names further variables for hooks to be given.

Git hooks guard the repository itself: a commit that edits the run's records by
hand, a push that rewinds a run. They are installed only on request:

  git agentxchain hooks install     keeps the hooks that are there, runs them
                                    first; --server: pre-receive alone
  git agentxchain hooks status      does each guard still run? "status" and
                                    "doctor" tell too
  git agentxchain hooks canary      proves that they refuse known violations
  git agentxchain hooks uninstall   puts back what was there, byte for byte
  git agentxchain hooks run NAME    what the scripts call; for hook managers

agentxchain.pushRuns in git's configuration: true pushes runs along with every
branch, "require" also refuses the branch when they cannot be pushed.
`
}

func securityTopic() string {
	return `Files in a repository are untrusted input: agentxchain.json, turn results,
ledgers, exports. They are read with limits on size and depth, they cannot name
paths outside the project, and their text cannot drive your terminal.

Approvals are a person's act. They record who acted and whether a terminal was
there, and are refused from inside a dispatched turn (exit 3,
inside_dispatched_turn): an agent cannot sign off its own gate by typing the
command.

Records are append-only and chained by git's own object ids. "fsck" finds a
changed, missing or reordered record; "fsck --replay" proves that every state
follows from the one before by the rules.

Not defended: a person with write access to the repository who also rewrites its
refs and every clone. Signed approvals and a copy of the ref elsewhere are the
answer to that; docs/threat-model.md has the details.

Hooks, webhooks and gate actions that agentxchain.json names run with your
rights, and only after you agreed to them on this machine ("help hooks").
Runtimes run with your rights too. Read that file before you run a project you
do not know.
`
}
