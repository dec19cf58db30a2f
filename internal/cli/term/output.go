// Where results go: prose or exactly one JSON object on stdout, everything else on stderr.

package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Output is the result side of a command. It keeps the promise that --json
// prints one object and nothing else on stdout, whatever the command does.
type Output struct {
	f       *Factory
	stdout  *bufio.Writer
	pager   *pager
	payload *ojson.Object
	raw     bool // the command took over stdout: no envelope at the end
	Style   func() Style
	errSty  func() Style
	err     error // first write error
}

func newOutput(f *Factory) *Output {
	o := &Output{f: f, stdout: bufio.NewWriter(f.Env.Stdout)}
	o.Style = sync.OnceValue(func() Style { return Style{on: f.useColor(f.Env.Stdout)} })
	o.errSty = sync.OnceValue(func() Style { return Style{on: f.useColor(f.Env.Stderr)} })
	return o
}

// Emit passes on the result of a command: payload for --json, text for people. Only one of the two
// is used; calling Emit again replaces the payload and adds to the text. Either may be nil.
func (o *Output) Emit(payload *ojson.Object, print func(*Printer)) {
	if o.f.Global.JSON && !o.raw {
		o.payload = payload
		return
	}
	if print != nil {
		print(o.Printer())
	}
}

// Printer writes text to stdout. With --json it writes nowhere, so that a
// command that prints as it goes cannot break the envelope.
func (o *Output) Printer() *Printer {
	if o.f.Global.JSON && !o.raw {
		return &Printer{w: io.Discard, Style: Style{}, Now: o.f.Env.Now}
	}
	return &Printer{w: writerFunc(o.write), Style: o.Style(), Now: o.f.Env.Now, width: o.width()}
}

// Raw takes over stdout for output with a shape of its own (NUL separated paths, --format json of a
// verifier, scripts): no envelope is added. On a terminal hostile runes are spelled out, as the
// output may quote foreign text.
func (o *Output) Raw() io.Writer {
	o.raw = true
	if o.f.Env.IsTerminal(o.f.Env.Stdout) {
		return &text.Writer{To: writerFunc(o.write)}
	}
	return writerFunc(o.write)
}

// Stream writes one record of an endless listing, one line of JSON each, and flushes it at once. It
// replaces the envelope.
func (o *Output) Stream(record *ojson.Object) error {
	w := o.Raw()
	if _, err := w.Write(append(ojson.Compact(record), '\n')); err != nil {
		return err
	}
	return o.Flush()
}

// Notice writes a line for the person at the terminal to stderr. It is not
// part of the result and stays silent with --json.
func (o *Output) Notice(format string, args ...any) {
	if o.f.Global.JSON {
		return
	}
	_, _ = fmt.Fprintln(o.f.Env.Stderr, Clean(fmt.Sprintf(format, args...)))
}

// Warn is Notice with "warning:" in front.
func (o *Output) Warn(format string, args ...any) {
	if o.f.Global.JSON {
		return
	}
	_, _ = fmt.Fprintf(o.f.Env.Stderr, "%s %s\n", o.errSty().Yellow("warning:"), Clean(fmt.Sprintf(format, args...)))
}

// Flush writes buffered output to stdout.
func (o *Output) Flush() error {
	if err := o.stdout.Flush(); err != nil && o.err == nil {
		o.err = err
	}
	return o.err
}

func (o *Output) write(p []byte) (int, error) {
	n, err := o.stdout.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// width returns the number of columns, found like git: by COLUMNS, which git sets for what it pages (git -p), else by
// asking the terminal; 0 for no limit.
func (o *Output) width() int {
	if n, err := strconv.Atoi(o.f.Env.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !o.f.Env.IsTerminal(o.f.Env.Stdout) {
		return 0
	}
	return o.f.Env.Width(o.f.Env.Stdout)
}

// finish ends the invocation: it prints the envelope or the error, flushes,
// waits for the pager and returns the exit status.
func (o *Output) finish(err error) int {
	r := report{Exit: ExitOK}
	if err != nil {
		r = Describe(err)
	}
	switch {
	case o.f.Global.Pick != nil && !o.raw && (err == nil || r.silent):
		doc := ojson.Compact(Envelope(r.Exit == ExitOK, o.f.CorrelationID(), o.payload, nil))
		if perr := o.picked(doc); perr != nil {
			_ = o.Flush()
			o.printError(report{Code: "invalid_argument", message: perr.Error()})
			r.Exit = ExitUsage
		}
	case o.f.Global.JSON && !o.raw && o.f.Global.Pick == nil:
		var failure *ojson.Object
		if err != nil && !(r.silent && o.payload.Has("error")) {
			if r.Code == "usage" && r.hint == "" {
				r.hint = o.f.explain // a person reads the nearest right thing in the sentence
			}
			failure = r.object()
		}
		doc := Envelope(r.Exit == ExitOK, o.f.CorrelationID(), o.payload, failure)
		if o.f.Env.IsTerminal(o.f.Env.Stdout) {
			_, _ = o.write(text.JSON(ojson.Pretty(doc)))
		} else {
			_, _ = o.write(append(ojson.Compact(doc), '\n'))
		}
	case err != nil && !r.silent:
		// The result so far comes first, so that the two streams read in
		// order where they meet.
		_ = o.Flush()
		o.printError(r)
	}
	_ = o.Flush()
	paged := o.pager != nil
	o.stopPager()
	// Output that did not arrive is a failure (a full disk must not look like success), unless a
	// reader has seen enough and closes it, as a pager does.
	if o.err != nil && r.Exit == ExitOK && !paged && !errors.Is(o.err, syscall.EPIPE) {
		o.printError(report{Code: "io_failed", message: "cannot write the output: " + o.err.Error()})
		return ExitFailed
	}
	return r.Exit
}

// printError writes "error: ...", "hint: ..." and, for a refusal, "why: ..." to stderr. The text may quote
// foreign files, so control characters are made visible.
func (o *Output) printError(r report) {
	s := o.errSty()
	// On one line, whatever it quotes: a file name with a line feed in it must not be able to forge
	// a message of ours.
	_, _ = fmt.Fprintf(o.f.Env.Stderr, "%s %s\n", s.Red("error:"), OneLine(r.message))
	for _, f := range r.findings {
		_, _ = fmt.Fprintf(o.f.Env.Stderr, "  - %s\n", OneLine(f))
	}
	if r.hint != "" {
		_, _ = fmt.Fprintf(o.f.Env.Stderr, "%s %s\n", s.Cyan("hint:"), Clean(r.hint))
	}
	if r.explain != "" {
		_, _ = fmt.Fprintf(o.f.Env.Stderr, "%s %s\n", s.Dim("why:"), r.explainCommand())
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// Clean is text.Visible: foreign text with its lines kept.
func Clean(s string) string { return text.Visible(s) }

// OneLine is text.OneLine: foreign text for table cells, list items and messages.
func OneLine(s string) string { return text.OneLine(s) }

// Aside prints text for people beside the result: the subject of a question. It goes to stderr,
// like the question.
func (o *Output) Aside(print func(*Printer)) {
	if o.f.Global.JSON {
		return
	}
	_ = o.Flush()
	print(&Printer{w: o.f.Env.Stderr, Style: o.errSty(), Now: o.f.Env.Now, width: o.width()})
}

// Paged prints a long text between two questions, through the pager when stdout is a terminal, and
// returns when the person has left it.
func (o *Output) Paged(ctx context.Context, print func(*Printer)) {
	if o.f.Global.JSON || !o.f.Env.IsTerminal(o.f.Env.Stdout) {
		o.Aside(print)
		return
	}
	o.Page(ctx)
	print(o.Printer())
	_ = o.Flush()
	o.stopPager()
}
