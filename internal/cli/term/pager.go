// The pager: git's rules for choosing one, and long listings only.

package term

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// pager is a running pager that stdout goes through.
type pager struct {
	cmd *exec.Cmd
	in  *os.File
}

// Page sends the following output through the user's pager. It does nothing unless stdout is a
// terminal and the result is text. Commands with long listings call it before they print; a pager
// that cannot be started is skipped, as the listing matters more.
func (o *Output) Page(ctx context.Context) {
	f := o.f
	if o.pager != nil || f.Global.JSON || f.Global.NoPager || !f.Env.IsTerminal(f.Env.Stdout) {
		return
	}
	line := f.pagerCommand()
	if line == "" || line == "cat" {
		return
	}
	if word, _, _ := strings.Cut(line, " "); absent(word) {
		if word != "less" {
			o.Notice("the pager %s is not there: nothing is paged", OneLine(word))
		}
		return
	}
	// Decided now: afterwards stdout is a pipe and would get no colour.
	o.Style()
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	// The pager is the user's own shell line, as git runs it. It gets no
	// context: ^C belongs to the pager while it shows something.
	cmd := exec.Command("sh", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, f.Env.Stdout, f.Env.Stderr
	cmd.Env = os.Environ()
	for _, kv := range [][2]string{{"LESS", "FRX"}, {"LV", "-c"}} {
		if _, ok := os.LookupEnv(kv[0]); !ok {
			cmd.Env = append(cmd.Env, kv[0]+"="+kv[1])
		}
	}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return
	}
	_ = o.stdout.Flush()
	o.pager = &pager{cmd: cmd, in: w}
	o.stdout.Reset(w)
}

// absent reports that the shell would not find a pager's program, after which the listing would be lost.
func absent(word string) bool {
	if strings.ContainsAny(word, "=$`'\"\\;|&()<>~") {
		return false // for the shell to read
	}
	if _, err := exec.LookPath(word); err == nil {
		return false
	}
	return errors.As(exec.Command("sh", "-c", `command -v "$0"`, word).Run(), new(*exec.ExitError))
}

// stopPager closes the pager's input and waits until the person leaves it.
func (o *Output) stopPager() {
	if o.pager == nil {
		return
	}
	_ = o.pager.in.Close()
	// Everything is written: another ^C belongs to the pager, which would otherwise be left at the terminal
	// without us.
	resume := o.f.Env.HoldInterrupt()
	_ = o.pager.cmd.Wait()
	resume()
	o.pager = nil
	o.stdout.Reset(o.f.Env.Stdout)
}

// pagerCommand picks the pager: GIT_PAGER, pager.agentxchain, core.pager, PAGER, less; on a dumb terminal none unless
// one is named. pager.agentxchain may also be a boolean that only switches it.
func (f *Factory) pagerCommand() string {
	env := f.Env.Getenv
	if p := env("GIT_PAGER"); p != "" {
		return p
	}
	conf := f.gitConf()
	if p, ok := conf["pager.agentxchain"]; ok {
		switch strings.ToLower(p) {
		case "false", "no", "off", "0", "":
			return ""
		case "true", "yes", "on", "1":
		default:
			return p
		}
	}
	for _, p := range []string{conf["core.pager"], env("PAGER")} {
		if p != "" {
			return p
		}
	}
	if env("TERM") == "dumb" { // less would ask for a key before it shows anything
		return ""
	}
	return "less"
}
