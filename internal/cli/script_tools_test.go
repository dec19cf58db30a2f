// Programs that the acceptance scripts call besides git: staging a result, expecting an exit status, comparing
// trees.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// scriptPrograms are programs that scripts run, the test binary playing each:
//
//	stage [-o PATH] [TURN] [MEMBER=VALUE...]  the turn's template, members replaced (VALUE is JSON or else a string;
//	                                          MEMBER= alone removes it), written to the staging path
//	rc STATUS PROGRAM ARG...                  runs the program, fails unless it ends with STATUS
//	refuse STATUS CODE PROGRAM ARG...         the same with --json; the error must have that stable code; prints message, hint and the object
//	digest save|same FILE PATH...             notes mode and digest of every file below the paths (of .git only refs, HEAD and
//	                                          index), or fails when they differ from the note
//	project DIR [MEMBER=VALUE...]             a repository with one commit, governed; the members are set in agentxchain.json
//	get URL [METHOD] [NAME: VALUE]...         a web client, see scriptGet
//	mcp-agent                                 an agent: an MCP server on its standard streams
//	lease-runner FILE ADDRESS CALL [ARG...]   a runner of the Monarchic protocol, see scriptLeaseRunner
//	guide PAGE HEADING [WORD=WORD...]         runs the command lines below a heading of docs, see scriptGuide
//	git-server KIND ROOT FILE                 serves repositories, see scriptGitServer
//	intoto FILE [ALLOWED SIGNER]              others read statements, see scriptInToto
//	examples COMMAND...                       runs the examples of the help; none may end with a usage error
//	edit FILE MEMBER=VALUE...                 sets members of a JSON document; a dotted MEMBER goes down, MEMBER= removes
func scriptPrograms() map[string]func() {
	run := func(f func(args []string) error) func() {
		return func() {
			if err := f(os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, "script tool:", err)
				os.Exit(99)
			}
		}
	}
	return map[string]func(){
		"git-agentxchain": func() { os.Exit(answeredMain()) },
		"stage":           run(scriptStage),
		"rc":              run(scriptStatus),
		"refuse":          run(scriptRefuse),
		"digest":          run(scriptDigest),
		"get":             run(scriptGet),
		"edit":            run(scriptEdit),
		"intoto":          run(scriptInToto),
		"project":         run(scriptProject),
		"mcp-agent":       run(scriptMCPAgent),
		"lease-runner":    run(scriptLeaseRunner),
		"git-server":      run(scriptGitServer),
		"guide":           run(scriptGuide),
		"examples":        run(scriptExamples),
	}
}

// scriptCommands are commands of the script language itself:
//
//	capture NAME MEMBER  sets the environment variable to a member of the JSON the last command printed
//	webhook, webhook-end: see scriptWebhook
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"capture": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: capture NAME MEMBER")
			}
			doc, err := ojson.DecodeObject([]byte(ts.ReadFile("stdout")))
			ts.Check(err)
			at := doc
			path := strings.Split(args[1], ".")
			for _, k := range path[:len(path)-1] {
				// NAME[0] is the first object of a list.
				if list, ok := strings.CutSuffix(k, "[0]"); ok {
					at = at.Objects(list)[0]
					continue
				}
				at = at.Object(k)
			}
			v, ok := at.Get(path[len(path)-1])
			if !ok {
				ts.Fatalf("no member %s in %s", args[1], ojson.Compact(doc))
			}
			text, ok := v.(string)
			if !ok {
				text = string(ojson.Compact(v))
			}
			ts.Setenv(args[0], text)
		},
		// The directory is on a disk whose clock differs from the machine's, until the script ends.
		"clock": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: clock DIRECTORY AHEAD")
			}
			ahead, err := time.ParseDuration(args[1])
			ts.Check(err)
			disk, err := testtrace.NewMount(ts.MkAbs(args[0]), 1)
			ts.Check(err)
			ts.Defer(func() { ts.Check(disk.Close()) })
			ts.Check(disk.Jump(ahead))
		},
		"webhook":     scriptWebhook,
		"webhook-end": scriptWebhookEnd,
	}
}

// scriptCondition answers the conditions of scripts in brackets: [root] the test runs as the
// superuser; [owners] it does, and git refuses another user's repository, as since 2.35.2; [sshd]
// openssh-server is installed; [reftable] git has that format; [tmpfs] a small file system can be
// mounted in a namespace of its own; [strace] processes can be traced; [rawnames] the file system
// takes names that are not UTF-8; [reference] AGENTXCHAIN_REFERENCE names the reference CLI.
func scriptCondition(cond string) (bool, error) {
	dir, err := os.MkdirTemp("", "condition-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	switch cond {
	case "managers": // of hooks, prepared for these tests
		return os.Getenv("AGENTXCHAIN_TEST_MANAGERS") == "1", nil
	case "reference":
		return os.Getenv("AGENTXCHAIN_REFERENCE") != "", nil
	case "python-grpc": // Debian's python3-grpcio
		return exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").Run() == nil, nil
	case "node-grpc": // npm's @connectrpc/connect-node, in the named directory
		return os.Getenv("AGENTXCHAIN_TEST_NODE_MODULES") != "", nil
	case "disk": // can be simulated
		return testtrace.MountAvailable(), nil
	case "sshd":
		return sshd() != "", nil
	case "owners":
		if os.Geteuid() != 0 || exec.Command("git", "init", "-q", dir).Run() != nil ||
			os.Chown(dir, 65534, 65534) != nil || os.Chown(filepath.Join(dir, ".git"), 65534, 65534) != nil {
			return false, nil
		}
		cmd := exec.Command("git", "-C", dir, "rev-parse", "--git-dir")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		return cmd.Run() != nil, nil
	case "root":
		return os.Geteuid() == 0, nil
	case "reftable":
		return exec.Command("git", "init", "-q", "--ref-format=reftable", dir).Run() == nil, nil
	case "tmpfs":
		return exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "none", dir).Run() == nil, nil
	case "strace":
		return exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() == nil, nil
	case "rawnames":
		return os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o666) == nil, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

func scriptStage(args []string) error {
	ctx := context.Background()
	out := ""
	if len(args) > 1 && args[0] == "-o" {
		out, args = args[1], args[2:]
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	r, err := runner.Open(ctx, dir, runner.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	turn := ""
	if len(args) > 0 && !strings.Contains(args[0], "=") {
		turn, args = args[0], args[1:]
	} else {
		only := v.State.OnlyTurn()
		if only == nil {
			return fmt.Errorf("there is not exactly one active turn")
		}
		turn = only.TurnID
	}
	tmpl, err := r.Template(ctx, turn)
	if err != nil {
		return err
	}
	doc := tmpl.Clone()
	for _, kv := range [][2]any{{"decisions", []any{}}, {"summary", "done as asked"}, {"files_changed", []any{}}} {
		doc.Set(kv[0].(string), kv[1])
	}
	if err := setMembers(doc, args); err != nil {
		return err
	}
	if strings.HasPrefix(doc.String("proposed_next_role"), "<") {
		doc.Set("proposed_next_role", someNextRole(v, turn))
	}
	if out == "" {
		out = filepath.Join(r.Record().Dir(), filepath.FromSlash(wire.StagingPath(turn)))
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	return os.WriteFile(out, ojson.Pretty(doc), 0o666)
}

// someNextRole returns a role that the phase allows after the turn, another than its own if there
// is one.
func someNextRole(v *gitstore.View, turn string) string {
	route := v.Config.Route(v.State.Phase)
	if route == nil || len(route.AllowedNextRoles) == 0 {
		return "human"
	}
	t, _ := v.State.ActiveTurns.Get(turn)
	for _, role := range route.AllowedNextRoles {
		if t == nil || role != t.AssignedRole {
			return role
		}
	}
	return route.AllowedNextRoles[0]
}

func setMembers(doc *ojson.Object, args []string) error {
	for _, kv := range args {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return fmt.Errorf("%q is not MEMBER=VALUE", kv)
		}
		at := doc
		path := strings.Split(k, ".")
		for _, p := range path[:len(path)-1] {
			child := at.Object(p)
			if child == nil {
				child = ojson.NewObject()
				at.Set(p, child)
			}
			at = child
		}
		last := path[len(path)-1]
		switch value, err := ojson.Decode([]byte(v)); {
		case v == "":
			at.Delete(last)
		case err == nil:
			at.Set(last, value)
		default:
			at.Set(last, v)
		}
	}
	return nil
}

func scriptEdit(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: edit FILE MEMBER=VALUE...")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	if err := setMembers(doc, args[1:]); err != nil {
		return err
	}
	return os.WriteFile(args[0], ojson.Pretty(doc), 0o666)
}

// scriptProject sets up a project. Without a member authority it leaves approval to any person and
// sign-offs to the documents.
func scriptProject(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("usage: project DIR [MEMBER=VALUE...]")
	}
	ctx, dir := context.Background(), args[0]
	git := func(arg ...string) error {
		out, err := exec.Command("git", append([]string{"-C", dir}, arg...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", strings.Join(arg, " "), err, out)
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := git("init", "-q", "-b", "main"); err != nil {
		return err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := runner.InitProject(ctx, abs, runner.ProjectOptions{ID: "proj"}); err != nil {
		return err
	}
	members := args[1:]
	if !slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, "authority") }) {
		// A project as before authority was introduced: its policy opens the gates.
		if err := testproject.OpenGates(dir); err != nil {
			return err
		}
	}
	if len(members) > 0 {
		if err := scriptEdit(append([]string{filepath.Join(dir, wire.ConfigPath)}, members...)); err != nil {
			return err
		}
	}
	if err := git("add", "-A"); err != nil {
		return err
	}
	return git("commit", "-q", "-m", "governed project")
}

// exitOf runs a program and returns its exit status.
func exitOf(cmd *exec.Cmd) (int, error) {
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func scriptStatus(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: rc STATUS PROGRAM ARG")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	got, err := exitOf(cmd)
	if err == nil && got != want {
		err = fmt.Errorf("exit status %d, want %d", got, want)
	}
	return err
}

func scriptRefuse(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: refuse STATUS CODE PROGRAM ARG")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	// A hanging program is killed; its status is then none that was expected.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, args[2], append(slices.Clone(args[3:]), "--json")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &stdout, &stderr
	got, err := exitOf(cmd)
	if err != nil {
		return err
	}
	var answer struct {
		OK    bool `json:"ok"`
		Error struct {
			Code, Message, Hint, Explain string
		} `json:"error"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return fmt.Errorf("stdout is not one JSON object (%w): %s%s", err, stdout.Bytes(), stderr.Bytes())
	}
	if got != want || answer.OK || answer.Error.Code != args[1] {
		return fmt.Errorf("exit status %d, code %q; want %d, %q\n%s", got, answer.Error.Code, want, args[1],
			stdout.Bytes())
	}
	if stderr.Len() > 0 {
		return fmt.Errorf("prose beside --json: %s", stderr.Bytes())
	}
	// A refusal names the command that explains it.
	if (got == term.ExitRefused || got == term.ExitBlocked) &&
		!strings.HasPrefix(answer.Error.Explain, "git agentxchain explain ") {
		return fmt.Errorf("the refusal does not say how to learn more: %s", stdout.Bytes())
	}
	if strings.TrimSpace(answer.Error.Message) == "" {
		return fmt.Errorf("there is no message: %s", stdout.Bytes())
	}
	fmt.Printf("message: %s\nhint: %s\njson: %s", answer.Error.Message, answer.Error.Hint, stdout.Bytes())
	return nil
}
