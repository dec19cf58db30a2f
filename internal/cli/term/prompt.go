// Questions to the person at the terminal.

package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Prompter asks on stderr and reads stdin. It refuses when no person can answer; every question has
// a flag that answers it.
type Prompter struct {
	f  *Factory
	in *bufio.Reader
}

// Confirm asks a yes/no question. flag names the option that would have answered it, e.g. "--yes";
// the error suggests it when there is no terminal. An empty answer means def.
func (p *Prompter) Confirm(ctx context.Context, question, flag string, def bool) (bool, error) {
	choices := "[y/N]"
	if def {
		choices = "[Y/n]"
	}
	for {
		answer, err := p.Line(ctx, question+" "+choices, flag)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return def, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		p.f.Out.Notice("Answer y for yes or n for no.")
	}
}

// Line asks for one line and returns the answer trimmed. End of input is an error: no answer came.
func (p *Prompter) Line(ctx context.Context, question, flag string) (string, error) {
	if !p.f.Interactive() {
		return "", Errorf("prompt_unavailable", "%s needs an answer and this is not a terminal", OneLine(question)).
			WithHint("answer it with " + flag)
	}
	_ = p.f.Out.Flush()
	_, _ = fmt.Fprint(p.f.Env.Stderr, Clean(question)+" ")
	if p.in == nil {
		p.in = bufio.NewReader(p.f.Env.Stdin)
	}
	type result struct {
		line string
		err  error
	}
	// A read from a terminal cannot be cancelled; it is left behind when ^C
	// comes first, and the process ends right after.
	done := make(chan result, 1)
	go func() {
		line, err := p.in.ReadString('\n')
		done <- result{line, err}
	}()
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(p.f.Env.Stderr)
		return "", unanswered{ctx.Err()}
	case r := <-done:
		if r.err == io.EOF && strings.TrimSpace(r.line) == "" {
			_, _ = fmt.Fprintln(p.f.Env.Stderr)
			return "", Errorf("prompt_unavailable", "%s got no answer",
				OneLine(question)).WithHint("answer it with " + flag)
		}
		if r.err != nil && r.err != io.EOF {
			return "", Errorf("io_failed", "cannot read the answer: %w", r.err)
		}
		return strings.TrimSpace(r.line), nil
	}
}

// unanswered is a signal that came instead of an answer.
type unanswered struct{ error }

func (unanswered) Error() string {
	return "interrupted; the question was not answered, and what it asks about was not done"
}

func (u unanswered) Unwrap() error   { return u.error }
func (unanswered) ErrorCode() string { return "interrupted" }
func (unanswered) ErrorHint() string { return "" }
