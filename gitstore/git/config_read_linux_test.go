package git

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// oddConfig is an unusual configuration: the text and its file, or other preparations.
type oddConfig struct {
	local, worktree, global, xdg, system string
	env                                  []string // of the process
	do                                   func(*testing.T, *testrepo.Repo, string)
}

// oddConfigs returns unusual configurations by name. HOME is a home directory that a test makes.
func oddConfigs() map[string]oddConfig {
	write := func(t *testing.T, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	more := "[user]\n\tname = More\n\temail = more@example.org\n[core]\n\texcludesFile = ~/more\n"
	// Beside the home directory, beside the configuration, and in a missing directory.
	place := func(t *testing.T, r *testrepo.Repo, home string) {
		t.Helper()
		write(t, filepath.Join(home, "more"), more)
		write(t, filepath.Join(r.Main, ".git", "more"), more)
		write(t, filepath.Join(r.Main, ".git", "sub", "more"), "[include]\n\tpath = ../more\n")
	}
	odd := map[string]oddConfig{
		"nothing":        {},
		"global":         {global: "[user]\n\tname = G\n\temail = g@example.org\n"},
		"XDG":            {xdg: "[user]\n\tname = X\n[core]\n\texcludesfile = /x\n"},
		"XDG and global": {xdg: "[user]\n\tname = X\n\temail = x@x\n", global: "[user]\n\tname = G\n"},
		"XDG elsewhere": {
			xdg: "[user]\n\tname = X\n",
			env: []string{"XDG_CONFIG_HOME=HOME/elsewhere"},
			do:  func(t *testing.T, _ *testrepo.Repo, home string) { write(t, home+"/elsewhere/git/config", more) },
		},
		"XDG empty":        {xdg: "[user]\n\tname = X\n", env: []string{"XDG_CONFIG_HOME="}},
		"XDG relative":     {xdg: "[user]\n\tname = X\n", env: []string{"XDG_CONFIG_HOME=x"}},
		"no HOME":          {global: "[user]\n\tname = G\n", env: []string{"HOME"}},
		"HOME empty":       {global: "[user]\n\tname = G\n", env: []string{"HOME="}},
		"system":           {system: "[user]\n\tname = S\n[core]\n\thooksPath = /s\n", global: "[user]\n\tname = G\n"},
		"system off":       {system: "[user]\n\tname = S\n", env: []string{"GIT_CONFIG_NOSYSTEM=yes"}},
		"system not off":   {system: "[user]\n\tname = S\n", env: []string{"GIT_CONFIG_NOSYSTEM=0"}},
		"system in doubt":  {system: "[user]\n\tname = S\n", env: []string{"GIT_CONFIG_NOSYSTEM=7"}},
		"system said so":   {system: "[user]\n\tname = S\n", env: []string{"GIT_CONFIG_NOSYSTEM=maybe"}},
		"git's own system": {env: []string{"GIT_CONFIG_SYSTEM"}},
		"global elsewhere": {
			global: "[user]\n\tname = G\n",
			env:    []string{"GIT_CONFIG_GLOBAL=HOME/other"},
			do:     func(t *testing.T, _ *testrepo.Repo, home string) { write(t, home+"/other", more) },
		},
		"global missing":  {global: "[user]\n\tname = G\n", env: []string{"GIT_CONFIG_GLOBAL=HOME/none"}},
		"global empty":    {global: "[user]\n\tname = G\n", env: []string{"GIT_CONFIG_GLOBAL="}},
		"global relative": {global: "[user]\n\tname = G\n", env: []string{"GIT_CONFIG_GLOBAL=a.txt"}},
		"given": {
			local: "[user]\n\tname = L\n",
			env: []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Given",
				"GIT_CONFIG_KEY_1=User.EMail", "GIT_CONFIG_VALUE_1=g@i"},
		},
		"given, old way":  {env: []string{"GIT_CONFIG_PARAMETERS='user.name=Old' 'core.excludesfile'='/p'"}},
		"given, no value": {env: []string{"GIT_CONFIG_PARAMETERS='user.name'"}},
		"given, no key":   {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=name", "GIT_CONFIG_VALUE_0=x"}},
		"given, bad key":  {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a_b.c", "GIT_CONFIG_VALUE_0=x"}},
		"given, with sub": {env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=Branch.Main.Remote",
			"GIT_CONFIG_VALUE_0=x\ny"}},
		"given, include": {
			env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=HOME/more"},
			do:  place,
		},
		"names by EMAIL": {
			env:   []string{"EMAIL=e@mail", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"},
			local: "[user]\n\tname = L\n",
		},
		"useConfigOnly": {
			env:   []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"},
			local: "[user]\n\tuseConfigOnly = true\n\tname = L\n",
		},
		"author apart": {
			env:   []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME"},
			local: "[user]\n\tname = L\n\temail = l@l\n[author]\n\tname = A\n[committer]\n\tname = C\n",
		},
		"worktree config": {
			local:    "[extensions]\n\tworktreeConfig = true\n[user]\n\tname = L\n",
			worktree: "[user]\n\tname = W\n",
		},
		"worktree, alone": {
			local:    "[extensions]\n\tworktreeConfig\n[user]\n\tname = L\n",
			worktree: "[user]\n\tname = W\n",
		},
		"worktree, words":  {local: "[extensions]\n\tworktreeConfig = Yes\n", worktree: "[user]\n\tname = W\n"},
		"worktree, number": {local: "[extensions]\n\tworktreeConfig = 2\n", worktree: "[user]\n\tname = W\n"},
		"worktree, off":    {local: "[extensions]\n\tworktreeConfig = false\n", worktree: "[user]\n\tname = W\n"},
		"worktree, unsaid": {worktree: "[user]\n\tname = W\n"},
		"worktree, twice": {
			local:    "[extensions]\n\tworktreeConfig = true\n[extensions]\n\tworktreeConfig = no\n",
			worktree: "[user]\n\tname = W\n",
		},
		"worktree, included": {
			local:    "[include]\n\tpath = HOME/ext\n",
			worktree: "[user]\n\tname = W\n",
			do: func(t *testing.T, _ *testrepo.Repo, home string) {
				write(t, home+"/ext", "[extensions]\n\tworktreeConfig = true\n")
			},
		},
		"worktree, broken":      {local: "[extensions]\n\tworktreeConfig = true\n", worktree: "[user\n"},
		"an unknown extension":  {local: "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuture = true\n"},
		"the program for hooks": {local: "[core]\n\thooksPath = hooks dir\n"},
		"hooks at home":         {global: "[core]\n\thooksPath = ~/hooks\n"},
		"hooks of another":      {global: "[core]\n\thooksPath = ~root/hooks\n"},
		"hooks nowhere":         {local: "[core]\n\thooksPath =\n"},
		"hooks, no value":       {local: "[core]\n\thooksPath\n"},
		"hooks with git":        {local: "[core]\n\thooksPath = %(prefix)/hooks\n"},
		"a directory for a file": {do: func(t *testing.T, _ *testrepo.Repo, home string) {
			name := filepath.Join(home, ".gitconfig")
			if err := errors.Join(os.RemoveAll(name), os.Mkdir(name, 0o755)); err != nil {
				t.Fatal(err)
			}
		}},
		"a link for a file": {do: func(t *testing.T, _ *testrepo.Repo, home string) {
			write(t, home+"/real", more+"[include]\n\tpath = beside\n")
			write(t, home+"/beside", "[user]\n\tname = Beside\n")
			name := filepath.Join(home, ".gitconfig")
			if err := errors.Join(os.RemoveAll(name), os.Symlink("real", name)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	// Includes, from each of the files.
	for name, text := range map[string]string{
		"include":              "[include]\n\tpath = more\n",
		"include at home":      "[include]\n\tpath = ~/more\n",
		"include of another":   "[include]\n\tpath = ~root/more\n",
		"include with git":     "[include]\n\tpath = %(prefix)/more\n",
		"include, absolute":    "[include]\n\tpath = HOME/more\n",
		"include, up and down": "[include]\n\tpath = sub/more\n",
		"include, not there":   "[include]\n\tpath = none\n\tpath = more/none\n",
		"include, empty":       "[include]\n\tpath =\n",
		"include, no value":    "[include]\n\tpath\n",
		"include with a sub":   "[include \"x\"]\n\tpath = more\n",
		"include itself":       "[include]\n\tpath = config\n",
		"include a directory":  "[include]\n\tpath = refs\n\tpath = .\n",
		"include, then more":   "[user]\n\tname = Before\n[include]\n\tpath = more\n[user]\n\temail = after@example.org\n",
		"include in capitals":  "[INCLUDE]\n\tPATH = more\n",
		"if here":              "[includeIf \"gitdir:GITDIR\"]\n\tpath = HOME/more\n",
		"if here, closed":      "[includeIf \"gitdir:GITDIR/\"]\n\tpath = HOME/more\n",
		"if below":             "[includeIf \"gitdir:TOP/\"]\n\tpath = HOME/more\n",
		"if below, open":       "[includeIf \"gitdir:TOP\"]\n\tpath = HOME/more\n",
		"if a name":            "[includeIf \"gitdir:main/\"]\n\tpath = HOME/more\n",
		"if a last name":       "[includeIf \"gitdir:main/.git\"]\n\tpath = HOME/more\n",
		"if half a name":       "[includeIf \"gitdir:ain/.git\"]\n\tpath = HOME/more\n",
		"if at home":           "[includeIf \"gitdir:~/\"]\n\tpath = HOME/more\n",
		"if home itself":       "[includeIf \"gitdir:~\"]\n\tpath = HOME/more\n",
		"if elsewhere":         "[includeIf \"gitdir:/elsewhere/\"]\n\tpath = HOME/more\n",
		"if beside":            "[includeIf \"gitdir:./\"]\n\tpath = HOME/more\n",
		"if beside, a name":    "[includeIf \"gitdir:./main/\"]\n\tpath = HOME/more\n",
		"if hidden":            "[includeIf \"gitdir:.git/\"]\n\tpath = HOME/more\n",
		"if above":             "[includeIf \"gitdir:../\"]\n\tpath = HOME/more\n",
		"if a pattern":         "[includeIf \"gitdir:**/main/*\"]\n\tpath = HOME/more\n",
		"if a bracket":         "[includeIf \"gitdir:m[a]in/\"]\n\tpath = HOME/more\n",
		"if escaped":           "[includeIf \"gitdir:m\\\\ain/\"]\n\tpath = HOME/more\n",
		"if without case":      "[includeIf \"gitdir/i:MAIN/\"]\n\tpath = HOME/more\n",
		"if a branch":          "[includeIf \"onbranch:main\"]\n\tpath = HOME/more\n",
		"if a remote":          "[includeIf \"hasconfig:remote.*.url:x/**\"]\n\tpath = HOME/more\n",
		"if something else":    "[includeIf \"moon:full\"]\n\tpath = HOME/more\n",
		"if nothing":           "[includeIf]\n\tpath = HOME/more\n[includeIf \"\"]\n\tpath = HOME/more\n[includeIf \"gitdir:\"]\n\tpath = HOME/more\n",
		"if twice":             "[includeIf \"gitdir:TOP/\"]\n\tpath = HOME/none\n\tpath = HOME/more\n",
		"if, other key":        "[includeIf \"gitdir:TOP/\"]\n\tpaths = HOME/more\n",
	} {
		odd[name+", local"] = oddConfig{local: text, do: place}
		odd[name+", global"] = oddConfig{global: text, do: place}
	}
	// Ways to write lines.
	for name, text := range map[string]string{
		"quoted":                  "[user]\n\tname = \"  Q # ; \"\n",
		"half quoted":             "[user]\n\tname = a \"b  \"  c  \n",
		"open quote":              "[user]\n\tname = \"a\n",
		"escapes":                 "[user]\n\tname = a\\tb\\nc\\\\\\\"d\\b\n",
		"unknown escape":          "[user]\n\tname = a\\qb\n",
		"continued":               "[user]\n\tname = a \\\n   b\\\n\n\temail = x@x\n",
		"continued, quoted":       "[user]\n\tname = \"a \\\n  b\"\n",
		"continued comment":       "[user]\n\tname = a # b \\\n\temail = y@y\n",
		"continued to the end":    "[user]\n\tname = a\\",
		"comments":                "# x\n; y\n[user] # z\n\tname = a;b\n\temail = c #d\n",
		"one line":                "[user] name = One\n[core] excludesfile = /o\n",
		"CRLF":                    "[user]\r\n\tname = C R\r\n\temail = c@r\r\n\tsigningkey\r\n",
		"tabs inside":             "[user]\n\tname = a\tb  c\n",
		"tabs around":             "[user]\n\tname = \ta\t\t# b\n",
		"tabs quoted":             "[user]\n\tname = \"a\tb\"\t\n",
		"CR at the end":           "[user]\n\tname = a\r\r\n",
		"CR alone":                "[user]\n\tname = a\rb\r\n",
		"CRLF continued":          "[user]\r\n\tname = a\\\r\nb\r\n",
		"byte order mark":         "\ufeff[user]\n\tname = BOM\n",
		"byte order mark inside":  "[user]\n\ufeff\tname = BOM\n",
		"half a mark":             "\xef\xbb[user]\n\tname = x\n",
		"latin 1":                 "[user]\n\tname = \xe9\n",
		"NUL":                     "[user]\n\tname = a\x00b\n",
		"NUL first":               "\x00[user]\n\tname = a\n",
		"no value":                "[user]\n\tname\n\temail=e@e\n",
		"empty value":             "[user]\n\tname =\n\temail = \"\"\n",
		"no last newline":         "[user]\n\tname = last",
		"no blank":                "[user]\n\tname=x\n",
		"capitals":                "[USER]\n\tNAME = Cap\n[User \"Sub\"]\n\tName = x\n",
		"subsection":              "[user \"a\\\"b\\\\c\\d\"]\n\tname = x\n[user]\n\temail = y@y\n",
		"subsection, newline":     "[user \"a\nb\"]\n\tname = x\n",
		"dotted section":          "[User.Sub]\n\tName = x\n[core.excludesfile]\n\tx = 1\n",
		"dotted, quoted":          "[a.B \"C\"]\n\td = 1\n",
		"empty section":           "[]\n\tname = x\n",
		"open section":            "[user\n",
		"section with blanks":     "[ user ]\n\tname = x\n",
		"blank before the sub":    "[user\t  \"x\"]\n\tname = y\n",
		"blank after the sub":     "[user \"x\" ]\n\tname = y\n",
		"sub of nothing":          "[user \"\"]\n\tname = y\n",
		"before a section":        "name = x\n[user]\n\temail = e@e\n",
		"key with a digit":        "[user]\n\t1name = x\n",
		"key with a dash":         "[user]\n\t-name = x\n",
		"key with an underscore":  "[user]\n\tna_me = x\n",
		"key, blank, no value":    "[user]\n\tname  \n\temail  = e@e\n",
		"key and a word":          "[user]\n\tname x\n",
		"twice":                   "[user]\n\tname = a\n\tname = b\n[user]\n\tname = c\n",
		"form feed":               "[user]\n\f\tname = a\v\f\n",
		"vertical tab, in a name": "[user]\n\tname = a\vb\n",
		"spaces that are none":    "[user]\n\tname = \u00a0a\u00a0\n",
		"a long value":            "[user]\n\tname = " + strings.Repeat("long ", 5000) + "\n",
		"many lines":              "[user]\n" + strings.Repeat("\tname = x\n", 3000),
	} {
		odd[name+", local"] = oddConfig{local: text}
		odd[name+", global"] = oddConfig{global: text}
	}
	// Nested includes, as deep as git follows them, and one deeper.
	for depth := 9; depth <= 12; depth++ {
		odd[fmt.Sprintf("included %d deep", depth)] = oddConfig{
			local: "[include]\n\tpath = HOME/1\n",
			do: func(t *testing.T, _ *testrepo.Repo, home string) {
				for i := 1; i < depth; i++ {
					write(t, fmt.Sprintf("%s/%d", home, i),
						fmt.Sprintf("[include]\n\tpath = %d\n[user]\n\tname = N%d\n", i+1, i))
				}
				write(t, fmt.Sprintf("%s/%d", home, depth), more)
			},
		}
	}
	return odd
}

// together combines one configuration with another after it.
func (o oddConfig) together(b oddConfig) oddConfig {
	o.local, o.worktree, o.global, o.xdg, o.system = o.local+b.local, o.worktree+b.worktree, o.global+b.global,
		o.xdg+b.xdg, o.system+b.system
	o.env = append(slices.Clip(o.env), b.env...)
	if first := o.do; first != nil && b.do != nil {
		o.do = func(t *testing.T, r *testrepo.Repo, home string) {
			t.Helper()
			first(t, r, home)
			b.do(t, r, home)
		}
	} else if b.do != nil {
		o.do = b.do
	}
	return o
}

// TestReadConfigOdd checks that with any configuration, and any two of them, either git is asked or the answer
// equals git's: every value of every key, the identity and the hooks.
func TestReadConfigOdd(t *testing.T) {
	testrepo.Thorough(t)
	odd := oddConfigs()
	names := slices.Sorted(maps.Keys(odd))
	said, looked := 0, 0
	main, linked := testrepo.New(t, testrepo.Options{}), testrepo.New(t, testrepo.Options{LinkedWorktree: true})
	try := func(r *testrepo.Repo, name string, o oddConfig) {
		t.Run(name, func(t *testing.T) {
			looked++
			if compareConfig(t, r, o) {
				said++
			}
		})
	}
	for i, name := range names {
		try(main, name, odd[name])
		if i%4 == 0 || testrepo.All(t.Name()) {
			try(linked, "linked, "+name, odd[name])
		}
	}
	pairs := 0
	if testrepo.All(t.Name()) {
		pairs = 6
	}
	for i, a := range names {
		for k := range pairs {
			b := names[(i*11+k*17+5)%len(names)]
			try(main, a+" and "+b, odd[a].together(odd[b]))
		}
	}
	if said < looked/3 || said == looked {
		t.Errorf("of %d configurations %d were read here: expected ordinary and odd ones", looked, said)
	}
	t.Logf("%d configurations, %d read without git", looked, said)
}

// compareConfig configures a repository temporarily and compares what is read in it with what git says; it reports
// whether anything was read without git.
func compareConfig(t *testing.T, r *testrepo.Repo, o oddConfig) bool {
	t.Helper()
	home := filepath.Join(filepath.Dir(r.Main), "home")
	dir := r.Git("rev-parse", "--absolute-git-dir")
	ordinary, err := os.ReadFile(filepath.Join(r.Main, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		err := os.WriteFile(filepath.Join(r.Main, ".git", "config"), ordinary, 0o644)
		if err := errors.Join(err, os.RemoveAll(home),
			os.RemoveAll(filepath.Join(dir, "config.worktree"))); err != nil {
			t.Fatal(err)
		}
	}()
	fill := func(text string) string {
		return strings.NewReplacer("HOME/", home+"/", "GITDIR", dir, "TOP", r.Top).Replace(text)
	}
	for name, text := range map[string]string{
		filepath.Join(r.Main, ".git", "config"): o.local, filepath.Join(dir, "config.worktree"): o.worktree,
		filepath.Join(home, ".gitconfig"): o.global, filepath.Join(home, ".config", "git",
			"config"): o.xdg, filepath.Join(home, "system"): o.system,
	} {
		old, _ := os.ReadFile(name)
		_ = os.MkdirAll(filepath.Dir(name), 0o755)
		if text == "" {
			continue
		}
		if !strings.HasPrefix(text, "\ufeff") && !strings.HasPrefix(text, "\xef") {
			text = string(old) + text
		}
		if err := os.WriteFile(name, []byte(fill(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o.do != nil {
		o.do(t, r, home)
	}
	set := map[string]string{
		"HOME":                home,
		"PATH":                os.Getenv("PATH"),
		"GIT_CONFIG_SYSTEM":   filepath.Join(home, "system"),
		"GIT_AUTHOR_NAME":     "Ann",
		"GIT_AUTHOR_EMAIL":    "a@example.org",
		"GIT_COMMITTER_NAME":  "Carl",
		"GIT_COMMITTER_EMAIL": "c@example.org",
	}
	for _, kv := range o.env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			set[k] = fill(v)
		} else {
			delete(set, k)
		}
	}
	var env []string
	for k, v := range set {
		env = append(env, k+"="+v)
	}
	g := newGit(r.Dir, env)
	g.Scope = &LocalScope{GitDir: dir, CommonDir: filepath.Join(r.Main, ".git"), top: r.Top}
	got, ok := readConfig(g, g.Scope)
	if !ok {
		return false
	}
	want, err := g.askConfig(t.Context())
	if err != nil {
		t.Errorf("expected what git says, %v; got %+v", err, got)
		return true
	}
	if _, err := g.Run(t.Context(), nil, "rev-parse", "--git-dir"); err != nil {
		return false // git does not open the repository, so there is nothing to compare
	}
	if show, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want); show != w {
		t.Errorf("expected %s\ngot      %s", w, show)
	}
	if hooks, known := configuredHooks(g, g.Scope); known {
		out, err := g.In(r.Top).Run(t.Context(), nil, "rev-parse", "--git-path", "hooks")
		said := strings.TrimSuffix(string(out), "\n")
		if !filepath.IsAbs(said) && !filepath.IsAbs(hooks) {
			hooks, said = filepath.Join(r.Top, hooks), filepath.Join(r.Top, said)
		} else if !filepath.IsAbs(said) {
			said = filepath.Join(r.Top, said)
		}
		if err == nil && hooks != said {
			t.Errorf("hooks: expected %q, got %q", said, hooks)
		}
	}
	compareIdentity(t, g, got, set)
	return true
}

// compareIdentity compares the identity from the values read with git var, where git has one.
func compareIdentity(t *testing.T, g *Git, list ConfigList, env map[string]string) {
	t.Helper()
	for who, sections := range map[string][2]string{"AUTHOR": {"author", "user"}, "COMMITTER": {"committer", "user"}} {
		name, email := env["GIT_"+who+"_NAME"], env["GIT_"+who+"_EMAIL"]
		for _, s := range sections {
			if v, ok := list.Last(s + ".name"); ok && name == "" {
				name = v
			}
			if v, ok := list.Last(s + ".email"); ok && email == "" {
				email = v
			}
		}
		if email == "" {
			email = env["EMAIL"]
		}
		out, err := g.Run(t.Context(), nil, "var", "GIT_"+who+"_IDENT")
		if err != nil || name == "" || email == "" {
			continue // git guesses by the machine, or refuses
		}
		// git strips line ends, brackets and, at the ends, characters that do not belong in a name.
		clean := func(s string) string {
			s = strings.TrimFunc(s, func(c rune) bool { return c <= ' ' || strings.ContainsRune(".,:;<>\"\\'", c) })
			return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
		}
		if said, want := string(out), clean(name)+" <"+clean(email)+"> "; !strings.HasPrefix(said, want) {
			t.Errorf("git var says %q of the %s, configured is %q", said, strings.ToLower(who), want)
		}
	}
}

// TestReadConfigOrdinary checks that an ordinary machine's configuration is read without git.
func TestReadConfigOrdinary(t *testing.T) {
	for _, o := range []oddConfig{
		{},
		{global: "[user]\n\tname = G\n\temail = g@g\n[includeIf \"gitdir:~/work/\"]\n\tpath = work\n"},
		{
			global: "[user]\n\tname = G\n",
			xdg:    "[core]\n\texcludesFile = ~/ignore\n",
			system: "[credential]\n\thelper = store\n",
		},
	} {
		if !compareConfig(t, testrepo.New(t, testrepo.Options{}), o) {
			t.Errorf("%+v: git was asked", o)
		}
	}
}

// TestReadConfigNow checks that the second answer contains what was written after the first.
func TestReadConfigNow(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	repo, err := Discover(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		want := fmt.Sprintf("value %d", i)
		r.Git("config", "agentxchain.test", want)
		list, err := repo.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := list.Last("agentxchain.Test"); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

// TestSystemConfig checks that only a program that names /etc/gitconfig is assumed to read it.
func TestSystemConfig(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec git \"$@\"\n\x00/etc/gitconfig\x00"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, bin := range []string{script, shell, dir, filepath.Join(dir, "none")} {
		if name, ok := systemConfig(bin); ok {
			t.Errorf("%s: got %s, expected git to be asked", bin, name)
		}
	}
}
