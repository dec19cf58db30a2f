// The editor: git's rules for choosing one.

package term

import (
	"context"
	"os"
	"os/exec"
)

// Edit lets the person edit the file and waits until the editor ends. The editor is their own shell
// line, as git runs it: GIT_EDITOR, core.editor, VISUAL, EDITOR, vi. With --json it writes to
// standard error, so that standard output keeps its one object.
//
// Errors: prompt_unavailable when no editor is named and there is no terminal for vi; failed when it cannot be started
// or does not end with 0.
func (f *Factory) Edit(ctx context.Context, file string) error {
	line := f.editorCommand(ctx)
	if line == "" {
		if !f.Env.IsTerminal(f.Env.Stdin) || f.Env.Getenv("TERM") == "dumb" {
			return Errorf("prompt_unavailable", "no editor is named, and vi needs a terminal").
				WithHint("name one in GIT_EDITOR, or with git config core.editor COMMAND")
		}
		line = "vi"
	}
	// The trap: a shell that waits for an editor would die of the editor's ^C once the editor has
	// ended.
	cmd := exec.CommandContext(ctx, "sh", "-c", "trap : INT; "+line+` "$@"`, line, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, f.Env.Stdout, f.Env.Stderr
	if f.JSON() {
		cmd.Stdout = f.Env.Stderr
	}
	err := cmd.Start()
	if err == nil {
		// After the start: a program that is started while ^C is ignored ignores it too.
		resume := f.Env.HoldInterrupt()
		err = cmd.Wait()
		resume()
	}
	if err != nil {
		return Errorf("failed", "the editor %s failed: %v", OneLine(line), err).
			WithHint("git agentxchain help environment says which editor is taken")
	}
	return nil
}

// editorCommand returns the editor that the person has named, "" for none.
func (f *Factory) editorCommand(ctx context.Context) string {
	if e := f.Env.Getenv("GIT_EDITOR"); e != "" {
		return e
	}
	if dir, err := f.Dir(); err == nil {
		if e := f.Env.GitConfig(ctx, dir, "core.editor")["core.editor"]; e != "" {
			return e
		}
	}
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := f.Env.Getenv(name); e != "" {
			return e
		}
	}
	return ""
}
