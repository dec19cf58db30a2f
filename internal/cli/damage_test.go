// Every command against every kind of damage: fsck reports it, what can be repaired is repaired, and no command
// crashes, hangs, gives a wrong answer or loses a file of the user.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// damage is one kind of damage. Every command is tried separately on a freshly damaged copy.
type damage struct {
	name string
	// do damages a copy of the project.
	do func(t *testing.T, d *damaged)
	// wrap returns a prefix that starts the command: a namespace, a tracer. It is empty where that is not possible
	// here.
	wrap func(t *testing.T, d *damaged) []string
	// env is added to a command's environment.
	env []string

	// named lists the codes of which fsck, or its refusal, reports one. None: nothing recorded is wrong, and fsck
	// says so.
	named []string
	// by is the command that reports it in place of fsck, and word is in its output.
	by   []string
	word string
	// mend lists the commands that repair it, tried in this order; after them fsck finds only what is lost.
	mend [][]string
	// lost lists the codes that fsck still reports after mend, for what no command can restore.
	lost []string
	// answers lists the reading commands whose answer may differ, since they show what was damaged.
	answers []string
	// again lists command lines that always have to be tried: they failed once.
	again []string
	// user lists the files of the user that the damage itself removes.
	user []string
}

// damaged is one copy of the project.
type damaged struct {
	t    *testing.T
	base *damageBase
	dir  string // of the project; beside it are the remote and what was exported

	rewritten [2]string // the operation that replaces another, and the replaced one
}

// damageBase is the project that all copies are made of.
type damageBase struct {
	root      string
	run       string // the current run
	old       string // the one before, which was abandoned
	tip       string // newest operation of the current run
	turn      string // active, with a staged result
	lines     []damageLine
	expected  map[string]string // reading line -> its masked answer
	different map[string]bool   // members that differ between two looks
}

// damageLine is a command line to try.
type damageLine struct {
	args  []string
	reads bool // it changed nothing in a sound project
	ok    bool // it succeeded in a sound project
	looks bool // it is a read-only command
}

func (l damageLine) String() string { return strings.Join(l.args, " ") }

// operands returns the operands and flags with which each command is tried. A command that needs none is tried
// without if it is not listed here.
func (b *damageBase) operands() map[string][]string {
	return map[string][]string{
		"doctor":                 {"", "--fix"},
		"approve":                {"", "--show"},
		"reject":                 {"--reason no"},
		"reissue":                {"--reason again"},
		"escalate":               {"--reason why"},
		"abandon":                {"--reason useless"},
		"run":                    {"", "--dry-run"},
		"objection close":        {"OBJ-001 --because so"},
		"proposal reject":        {"--reason no"},
		"inject":                 {"work"},
		"intake show":            {"intent_1"},
		"accept":                 {"", "--checkpoint"},
		"show":                   {"", b.tip, "--raw state"},
		"gate show":              {"", "qa_ship_verdict"},
		"turn show":              {"", "--artifact prompt"},
		"why":                    {"src/a.txt:1", ".planning/ROADMAP.md:1"},
		"blame":                  {".planning/ROADMAP.md"},
		"explain":                {"planning_signoff", "dirty_tree"},
		"at":                     {b.tip + " status", b.tip + "~1 history"},
		"whatif":                 {"--set rules.result_repair=strict"},
		"bisect":                 {"planning_signoff"},
		"verify export":          {"../out/run.json"},
		"verify diff":            {"../out/run.json ../out/run.json"},
		"verify range":           {"HEAD~1..HEAD"},
		"attest":                 {"", "HEAD~1..HEAD"},
		"attest export":          {"-"},
		"hooks run":              {"pre-commit"},
		"fsck":                   {"", "--replay --all-runs", "--against origin", "--against ../out/run.json"},
		"repair":                 {"--from-ref --dry-run", "--from-ref --yes", "--accept-working --reason so --yes"},
		"export":                 {"-o ../out/new.json", "--no-record -o -"},
		"restore":                {"../out/run.json --plan", "../out/run.json"},
		"runs show":              {b.run, b.old},
		"runs archive":           {b.old},
		"runs unarchive":         {b.old},
		"report":                 {"../out/run.json"},
		"ci-report":              {"../out/run.json"},
		"diff":                   {b.old + " " + b.run},
		"merge-driver":           {"../out/base ../out/ours ../out/theirs"},
		"textconv":               {".agentxchain/history.jsonl"},
		"monarchic validate":     {"../out/run.json"},
		"monarchic upgrade":      {"../out/run.json"},
		"monarchic import":       {"../out/run.json"},
		"monarchic message send": {"../out/base"},
		"monarchic message show": {"1"},
		"monarchic message ack":  {"1"},
		"alx hash":               {"../out/run.json"},
		"alx validate":           {"../out/run.json"},
		"alx settle":             {"../out/run.json"},
		"import":                 {"git-ai", "entire"},
		"init":                   {"", "--yes"},
		"mcp install":            {"", "--client claude --write"},
		"completion":             {"bash"},
		"__complete":             {"git-agentxchain show "},
		"help":                   {"fsck"},
		"man":                    {"fsck"},
		"conformance init":       {"../out/adapter"},
	}
}

// damageUntried lists the commands that no damage of a project reaches, or that run until they are stopped.
var damageUntried = map[string]string{
	"demo":                "plays in a repository of its own",
	"alx scripted-turn":   "plays in a repository of its own",
	"alx conformance":     "asks a service",
	"conformance check":   "judges a program",
	"conformance adapter": "serves requests",
	"conformance serve":   "serves requests",
	"conformance list":    "lists the corpus",
	"dashboard":           "serves requests; its API reads as status and history do",
	"replay export":       "serves requests",
	"serve":               "serves requests",
	"monarchic serve":     "serves requests",
}

// damageAsks lists the commands whose subject is damage: what they report about it is not a wrong
// answer.
var damageAsks = []string{"fsck", "doctor", "validate", "repair"}

const damageNow = "2026-03-01T10:00:00Z"

func (d *damaged) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *damaged) git(args ...string) string {
	d.t.Helper()
	return mustAt(d.t, d.dir, "git", args...)
}

func (d *damaged) read(name string) []byte {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return data
}

func (d *damaged) write(name string, data []byte) {
	d.t.Helper()
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		d.t.Fatal(err)
	}
	_ = os.Remove(path) // git's objects are read-only
	if err := os.WriteFile(path, data, 0o666); err != nil {
		d.t.Fatal(err)
	}
}

func (d *damaged) remove(name string) {
	d.t.Helper()
	if err := os.RemoveAll(d.path(name)); err != nil {
		d.t.Fatal(err)
	}
}

// damageUser maps files of the user to their contents.
var damageUser = map[string]string{
	"src/a.txt": "one\ntwo\nthree\n", // the turn's change
	"src/b.txt": "b\n",
	"notes.txt": "mine\n", // unknown to git
}

// newDamageBase makes the project once: a run that was abandoned, and one whose second turn has staged its result,
// known to a remote, with an export.
func newDamageBase(t *testing.T) *damageBase {
	t.Helper()
	asAda(t)
	t.Setenv("SCRIPT_NOW", damageNow)
	b := &damageBase{root: t.TempDir()}
	d := &damaged{t: t, base: b, dir: filepath.Join(b.root, "p")}
	objections := `objections=[{"id":"OBJ-001","severity":"low","statement":"a doubt"}]`
	ours := func(args ...string) string {
		t.Helper()
		return mustAt(t, d.dir, "git", append([]string{"agentxchain"}, args...)...)
	}
	mustAt(t, b.root, "git", "init", "-q", "--bare", "-b", "main", "server.git")
	mustAt(t, b.root, "project", "p", "routing.implementation.max_concurrent_turns=2",
		"roles.dev.write_authority=authoritative")
	d.write("src/a.txt", []byte("one\ntwo\n"))
	d.write("src/b.txt", []byte("b\n"))
	d.write(".git/info/exclude", []byte("notes.txt\n"))
	d.git("add", "-A")
	d.git("commit", "-q", "-m", "code")
	d.git("config", "gc.auto", "0") // nothing runs on after a command has ended
	d.git("remote", "add", "origin", "../server.git")
	d.git("push", "-q", "-u", "origin", "main")
	ours("assign", "pm")
	mustAt(t, d.dir, "stage", objections)
	ours("accept")
	ours("abandon", "--reason", "tried")
	ours("assign", "pm", "--new-run")
	(&nextWalk{t: t, root: b.root}).documents(d.dir)
	d.git("checkout", "-q", "--", ".planning/IMPLEMENTATION_NOTES.md", ".planning/acceptance-matrix.md",
		".planning/ship-verdict.md", ".planning/RELEASE_NOTES.md")
	mustAt(t, d.dir, "stage", objections,
		`files_changed=[".planning/PM_SIGNOFF.md",".planning/ROADMAP.md",".planning/SYSTEM_SPEC.md"]`,
		`decisions=[{"id":"DEC-001","category":"process","statement":"so","rationale":"because"}]`,
		"phase_transition_request=implementation")
	ours("accept", "--checkpoint")
	ours("inject", "The count is wrong")
	ours("assign", "dev", "--no-intent")
	ours("sync", "--branch")
	d.git("config", "agentxchain.sync", "manual") // and no push runs on either
	ours("export", "-o", mkdirAll(t, b.root, "out")+"/run.json")
	for name, content := range damageUser {
		d.write(name, []byte(content))
	}
	for _, name := range []string{"base", "ours", "theirs"} {
		d.write("../out/"+name, []byte(`{"a":1}`+"\n"))
	}
	mustAt(t, d.dir, "stage", `files_changed=["src/a.txt"]`,
		`verification={"status":"pass","commands":["true"],"evidence_summary":"ran it","machine_evidence":[{"command":"true","exit_code":0}]}`)
	for ref := range strings.FieldsSeq(
		d.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/agentxchain/runs")) {
		if statusRun(t, d.dir) == ref {
			b.run = ref
		} else {
			b.old = ref
		}
	}
	b.tip = d.git("rev-parse", "refs/agentxchain/runs/"+b.run)
	for turn := range standingAt(t, d.dir).Object("active_turns").All() {
		b.turn = turn
	}
	b.measure(t)
	return b
}

func mkdirAll(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// statusRun returns the run that the state names.
func statusRun(t *testing.T, dir string) string { return standingAt(t, dir).String("run_id") }

// copied makes a copy of the project and the files beside it.
func (b *damageBase) copied(t *testing.T) *damaged {
	t.Helper()
	root := filepath.Join(t.TempDir(), "r")
	mustAt(t, b.root, "cp", "-a", b.root, root)
	return &damaged{t: t, base: b, dir: filepath.Join(root, "p")}
}

// damageAnswer is the outcome of a command.
type damageAnswer struct {
	status int
	out    []byte
	errs   string
	hung   bool
}

// damageLimit is far longer than any command takes here.
const damageLimit = 2 * time.Minute

// ask runs a command line of ours with --json.
func (d *damaged) ask(k *damage, args ...string) damageAnswer {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), damageLimit)
	defer cancel()
	words := append([]string{"git-agentxchain"}, args...)
	if args[0] != "__complete" && args[0] != "mcp" {
		words = append(words, "--json")
	}
	if k != nil && k.wrap != nil {
		words = append(k.wrap(d.t, d), words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = d.dir, time.Second
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "NO_COLOR=1", "GIT_EDITOR=sed -i s,done,made,",
		"AGENTXCHAIN_CORRELATION_ID=damage", "HOME="+filepath.Join(filepath.Dir(d.dir), "home"),
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(filepath.Dir(d.dir)))
	if k != nil {
		cmd.Env = append(cmd.Env, k.env...)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	status, err := exitOf(cmd)
	if ctx.Err() == nil && err != nil {
		d.t.Fatalf("%v: %v\n%s%s", words, err, out.String(), errs.String())
	}
	return damageAnswer{status: status, out: out.Bytes(), errs: errs.String(), hung: ctx.Err() != nil}
}

// envelope matches what every answer begins with.
var envelope = regexp.MustCompile(`"correlationId":"[^"]*","protocol":\{[^}]*\},?`)

func (a damageAnswer) text() string {
	text := envelope.ReplaceAllString(string(a.out), "") + a.errs
	return text[:min(len(text), 3000)]
}

// object returns what --json printed.
func (a damageAnswer) object() *ojson.Object {
	doc, err := ojson.DecodeObject(a.out)
	if err != nil {
		return nil
	}
	return doc
}

func (a damageAnswer) code() string { return a.object().Object("error").String("code") }

// crashed matches words of a program that crashed.
var crashed = regexp.MustCompile(
	`(?m)internal error|^panic:|goroutine \d+ \[|runtime error|nil pointer|fatal error:|"code":"internal"|WARNING: DATA RACE`)

// files returns the contents of the project except git's own files, and the refs.
func (d *damaged) files() map[string]string {
	d.t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(d.dir, path)
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, ".git/") && !strings.HasPrefix(name, ".git/refs/") &&
			!slices.Contains([]string{".git/HEAD", ".git/packed-refs", ".git/config"}, name) {
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			out[name], _ = os.Readlink(path)
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// changes names the differences between two looks at the files.
func changes(before, after map[string]string) (names []string) {
	for name := range maps.Keys(before) {
		if now, ok := after[name]; !ok || now != before[name] {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(after) {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// measure runs every command line in sound copies: whether it reads, how it answers, and what in an answer
// varies.
func (b *damageBase) measure(t *testing.T) {
	t.Helper()
	b.expected, b.different = make(map[string]string), make(map[string]bool)
	for _, l := range leaves(newCommands(&term.Factory{}), nil) {
		name := term.PathName(l.path)
		if damageUntried[name] != "" {
			continue
		}
		operands, known := b.operands()[name]
		if !known {
			if low, _ := term.Arity(l.path[len(l.path)-1].ArgsUsage); low > 0 {
				t.Errorf("%s needs operands: say in operands what it is tried with", name)
				continue
			}
			operands = []string{""}
		}
		for _, o := range operands {
			line := damageLine{
				args:  append(strings.Fields(name), strings.Fields(o)...),
				looks: l.path[0].Category == shared.CategoryLook,
			}
			if strings.HasSuffix(o, " ") {
				line.args = append(line.args, "")
			}
			b.lines = append(b.lines, line)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	at := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range at {
				l := &b.lines[i]
				d := b.copied(t)
				before := d.files()
				a := d.ask(nil, l.args...)
				if a.hung || crashed.MatchString(a.text()) {
					t.Errorf("%s in a sound project: hung %v %d %s", l, a.hung, a.status, a.text())
				}
				l.ok = a.status == 0
				l.reads = len(changes(before, d.files())) == 0
				if l.reads {
					first, second := d.masked(a.out), d.masked(d.ask(nil, l.args...).out)
					mu.Lock()
					b.expected[l.String()] = first
					b.different[l.String()] = first != second
					mu.Unlock()
				}
			}
		})
	}
	for i := range b.lines {
		at <- i
	}
	close(at)
	wg.Wait()
}

// masked returns an answer without the place it was asked in.
func (d *damaged) masked(out []byte) string {
	text := strings.ReplaceAll(string(out), filepath.Dir(d.dir), "ROOT")
	if d.rewritten[0] != "" {
		text = strings.ReplaceAll(text, d.rewritten[0], d.rewritten[1])
	}
	return text
}

// differing shows two answers from their first difference on.
func differing(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(i-80, len(s))):min(i+200, len(s))] }
	return fmt.Sprintf("\n\t...%s...\nand in a sound project\n\t...%s...", cut(got), cut(want))
}

// found returns the codes of fsck's findings, or of its refusal.
func (d *damaged) found(k *damage) (codes []string, text string) {
	d.t.Helper()
	a := d.ask(k, "fsck", "--replay", "--all-runs")
	text = a.text()
	doc := a.object()
	if doc == nil || a.hung {
		d.t.Errorf("fsck printed no JSON (hung: %v): %s", a.hung, text)
		return []string{"none"}, text
	}
	for _, f := range doc.Objects("findings") {
		if note, _ := f.Get("note"); note != true {
			codes = append(codes, f.String("code"))
		}
	}
	if code := a.code(); code != "" {
		codes = append(codes, code)
	}
	if a.status != 0 && len(codes) == 0 {
		d.t.Errorf("fsck ended with %d and names nothing: %s", a.status, text)
	}
	slices.Sort(codes)
	return slices.Compact(codes), text
}

// unharmed compares the files of the user with what they were.
func (d *damaged) unharmed(k *damage, after string) {
	d.t.Helper()
	for name, want := range damageUser {
		if slices.Contains(k.user, name) {
			continue
		}
		if data, err := os.ReadFile(d.path(name)); err != nil || string(data) != want {
			d.t.Errorf("after %s %s is not what it was: %q %v", after, name, data, err)
		}
	}
}

// sane checks what every answer must satisfy, whatever is damaged.
func (d *damaged) sane(k *damage, l damageLine, a damageAnswer) {
	d.t.Helper()
	switch {
	case a.hung:
		d.t.Errorf("%s does not end", l)
		return
	case crashed.MatchString(a.text()):
		d.t.Errorf("%s falls over with %d: %s", l, a.status, a.text())
		return
	case slices.Contains([]string{"__complete", "mcp", "textconv"}, l.args[0]): // they speak another language
		return
	}
	if !json.Valid(bytes.TrimSpace(a.out)) {
		for line := range bytes.Lines(bytes.TrimSpace(a.out)) { // one record a line
			if !json.Valid(line) {
				d.t.Errorf("%s ended with %d and printed no JSON: %s", l, a.status, a.text())
				return
			}
		}
	}
	if a.status == 0 {
		return
	}
	code := a.code()
	known := false
	for _, row := range term.ExitTable() {
		known = known || row.Status == a.status && slices.ContainsFunc(row.Codes, func(c term.ExitCode) bool {
			return c.Code == code
		})
	}
	e := a.object().Object("error")
	switch {
	case code == "" && a.status == term.ExitFailed, code == "findings":
	case a.object().String("overall") == "error" && code != "": // as the reference's accounts end
	case len(a.out) > 0 && a.object() == nil && strings.HasPrefix(a.errs, "error: "): // the output before it stands
	case !known && a.status == term.ExitIntegrity && l.args[0] == "fsck":
	case l.args[0] == "attest" && a.object().String("_type") != "": // the statement says what is wrong
	case l.args[0] == "hooks" && l.args[1] == "run" && len(a.out) == 0 && a.errs != "": // git shows what it says
	case !known || code == "failed" && e.String("hint") == "":
		d.t.Errorf("%s ended with %d and the code %q: %s", l, a.status, code, a.text())
	case e.String("message") == "":
		d.t.Errorf("%s says nothing: %s", l, a.text())
	case a.status == term.ExitIntegrity && e.String("hint") == "":
		d.t.Errorf("%s names no next command: %s", l, a.text())
	}
}

// TestDamage tries every kind of damage: that fsck reports it, that it can be repaired, and that a sample of all
// commands withstands the kinds that are due. The long form tries every command with every kind.
func TestDamage(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.InMemory()
	b, part := newDamageBase(t), damagePart()
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	var mu sync.Mutex
	tried, kinds := 0, 0
	t.Run("kinds", func(t *testing.T) {
		for _, k := range damages(b) {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				n := k.judge(t, b, long, k.due(part))
				mu.Lock()
				tried, kinds = tried+n, kinds+1
				mu.Unlock()
			})
		}
	})
	t.Logf("%d kinds of damage, %d command lines, %d times one in a damaged project", kinds, len(b.lines), tried)
}

// damageParts is into how many parts the kinds are divided: each commit tries commands with one part, and the long
// form with all.
const damageParts = 5

// damagePart returns the part that is due.
func damagePart() uint32 {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return 0 // not a checkout
	}
	h := fnv.New32a()
	_, _ = h.Write(out)
	return h.Sum32() % damageParts
}

// due reports whether commands are tried with a kind: it is in the part, or it failed once.
func (k *damage) due(part uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.name))
	return len(k.again) > 0 || h.Sum32()%damageParts == part
}

// inflicted returns a damaged copy.
func (k *damage) inflicted(t *testing.T, b *damageBase) *damaged {
	t.Helper()
	d := b.copied(t)
	d.ask(nil, "doctor", "--fix") // its caches and notes are those of a project in use
	k.do(t, d)
	return d
}

func (k *damage) judge(t *testing.T, b *damageBase, long, due bool) (tried int) {
	d := k.inflicted(t, b)
	if k.wrap != nil && len(k.wrap(t, d)) == 0 {
		t.Skip("cannot be made here")
	}
	codes, text := d.found(k)
	if len(k.named) == 0 && len(codes) > 0 {
		t.Errorf("fsck finds %v: %s", codes, text)
	}
	if len(k.named) > 0 && !slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(k.named, c) }) {
		t.Errorf("fsck names %v, want one of %v: %s", codes, k.named, text)
	}
	if len(k.by) > 0 {
		if a := d.ask(k, k.by...); !strings.Contains(a.text(), k.word) ||
			d.masked(a.out) == b.expected[strings.Join(k.by, " ")] {
			t.Errorf("%v does not name it: %s", k.by, a.text())
		}
	}
	// Reading commands, one after the other in one copy: they change nothing.
	before := d.files()
	number := 0
	chosen := func(l damageLine) bool {
		number++
		return long || slices.Contains(k.again, l.String()) || due && k.sampled(number)
	}
	for _, l := range b.lines {
		if !l.reads || !chosen(l) {
			continue
		}
		tried++
		a := d.ask(k, l.args...)
		d.sane(k, l, a)
		if a.status == 0 && !slices.Contains(damageAsks, l.args[0]) && !b.different[l.String()] &&
			!slices.Contains(k.answers, l.args[0]) &&
			!slices.Contains(k.answers, "*") {
			// An answer whose notices report the damage is not a wrong answer.
			if got := d.masked(a.out); got != b.expected[l.String()] && len(a.object().Strings("notices")) == 0 {
				t.Errorf("%s answers%s", l, differing(got, b.expected[l.String()]))
			}
		}
		d.unharmed(k, l.String())
		if changed := changes(before, d.files()); len(changed) > 0 {
			// A command that could have changed something first settles what it finds.
			if l.looks && l.ok {
				t.Errorf("%s changed %v", l, changed)
			}
			d = k.inflicted(t, b)
			before = d.files()
		}
	}
	// Changing commands, each in a copy of its own.
	for _, l := range b.lines {
		if l.reads || !chosen(l) {
			continue
		}
		tried++
		d := k.inflicted(t, b)
		a := d.ask(k, l.args...)
		d.sane(k, l, a)
		d.unharmed(k, l.String())
		after, text := d.found(k)
		for _, c := range after {
			if !slices.Contains(codes, c) && !slices.Contains(k.named, c) &&
				!(l.args[0] == "repair" && slices.Contains(k.lost, c)) {
				t.Errorf("after %s (%d %s) fsck finds %s, which it did not before: %s\n%s", l, a.status, a.code(), c,
					text, a.text())
			}
		}
	}
	if len(k.mend) > 0 {
		d := k.inflicted(t, b)
		said := ""
		for _, m := range k.mend {
			if m[0] == "git" || m[0] == "sh" {
				out, err := at(d.dir, nil, m[0], m[1:]...)
				said += fmt.Sprintf("%v: %v %s\n", m, err, out)
				continue
			}
			a := d.ask(k, m...)
			said += fmt.Sprintf("%v: %d %s\n", m, a.status, a.text())
		}
		left, text := d.found(k)
		if !slices.Equal(left, k.lost) {
			t.Errorf("after %v fsck finds %v, want %v: %s\n%s", k.mend, left, k.lost, text, said)
		}
		d.unharmed(k, "mending")
	}
	return tried
}

// sampled chooses a few commands for each kind, different ones for different kinds, so that all are tried.
func (k *damage) sampled(n int) bool {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, k.name, " ", n)
	return h.Sum32()%17 == 0
}
