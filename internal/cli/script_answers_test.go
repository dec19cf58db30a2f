// Every --json answer in a script is kept, and checked against its schema when the script ends.

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// answersFile names the file that keeps the answers: COMMAND, a tab and the answer on each line.
const answersFile = "AGENTXCHAIN_TEST_ANSWERS"

// answeredMain is Main, and keeps its --json answer.
func answeredMain() int {
	env, file := scriptEnv(), os.Getenv(answersFile)
	flagged := func(word string) bool { return strings.HasPrefix(word, "-") && strings.Contains(word, "j") }
	if file == "" || !slices.ContainsFunc(os.Args, flagged) || slices.Contains(os.Args, "--follow") ||
		env.IsTerminal(env.Stdout) {
		return Main(os.Args, env)
	}
	inv, err := term.ParseLine(term.NewApp(&term.Factory{Program: program()}), commandRewrites(), os.Args[1:])
	if !inv.Global.JSON || inv.Global.Pick != nil {
		return Main(os.Args, env)
	}
	name := term.PathName(inv.Path)
	switch {
	case inv.Global.Help || name == "" && err == nil:
		name = "help"
	case inv.Global.Version:
		name = "version"
	}
	var answer bytes.Buffer
	env.Stdout = io.MultiWriter(env.Stdout, &answer)
	status := Main(os.Args, env)
	doc, err := ojson.DecodeObject(answer.Bytes())
	if err != nil {
		return status // a stream of records, or nothing
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return status // a script in which nothing can be written
	}
	defer func() { _ = f.Close() }()
	_, _ = f.WriteString(name + "\t" + string(ojson.Compact(doc)) + "\n")
	return status
}

// answersJudged checks the answers in a script against their schemas.
func (s *answerSchemas) answersJudged(env *testscript.Env) {
	data, err := os.ReadFile(env.Getenv(answersFile))
	if err != nil {
		return // it asked for none
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		name, text, _ := strings.Cut(line, "\t")
		answer, err := ojson.DecodeObject([]byte(text))
		if err != nil || name == "" || withoutSchema()[name] != "" {
			continue
		}
		if _, err := os.Stat(s.file(name)); err != nil && answer.Has("error") {
			name = "help" // a group of commands without that command
		}
		if err := s.judge(name, answer); err != nil {
			env.T().Log(fmt.Sprintf("%s --json: %v\n%s", name, err, text))
			env.T().FailNow()
		}
	}
}
