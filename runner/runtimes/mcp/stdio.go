// A server that is started for the turn and talks over its standard streams.

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-agentxchain/git-agentxchain/internal/mcpwire"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const (
	// maxMessage bounds one message of a server: a result as structure and as text.
	maxMessage = 4*protocol.MaxStagedBytes + 1<<20
	// maxOutput bounds what a server may print on standard output in a turn.
	maxOutput = 256 << 20
	// maxQuestions is how many questions of a server are answered in a turn. Each takes some memory
	// meanwhile.
	maxQuestions = 10000
	// endGrace is how long a server may take to end once its input has closed, and again once it is
	// told to end.
	endGrace = 2 * time.Second
	maxTail  = 800 // bytes of standard error that explain a failure
)

// flood is the cause of ending a server that would not stop talking.
type flood string

func (f flood) Error() string { return string(f) }

var (
	errFlood     = flood(fmt.Sprintf("the server printed more than %d MiB", maxOutput>>20))
	errQuestions = flood(fmt.Sprintf("the server sent more than %d requests of its own", maxQuestions))
)

// stdio is a running server.
type stdio struct {
	in     *os.File       // our end of its standard input
	out    *io.PipeReader // its standard output
	cancel context.CancelFunc
	number atomic.Int64
	done   chan struct{}
	res    *process.Result
	tail   tailWriter
	log    io.Writer
}

// startStdio starts the server in a session of its own; stop is called when it has ended.
func startStdio(c *settings, l link, stop context.CancelCauseFunc) *stdio {
	s := &stdio{done: make(chan struct{}), log: l.log}
	theirs, ours, err := os.Pipe()
	if err != nil {
		s.res = &process.Result{StartErr: err}
		s.out, _ = io.Pipe()
		_ = s.out.Close()
		close(s.done)
		s.cancel = func() {}
		return s
	}
	s.in = ours
	var printed *io.PipeWriter
	s.out, printed = io.Pipe()
	s.tail.log = l.log
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	guard := &limited{w: printed, left: maxOutput, over: func() { stop(errFlood); cancel() }}
	go func() {
		defer close(s.done)
		s.res = process.Run(ctx, process.Spec{
			Argv:    l.argv,
			Dir:     c.dir(l.root),
			Env:     l.env,
			Files:   l.inherit,
			Input:   theirs,
			Stdout:  guard,
			Stderr:  &s.tail,
			Grace:   endGrace,
			Session: true,
			Started: func(pid int) {
				_ = turnmark.Brand(pid) // if it fails the other marks have to suffice
				s.number.Store(int64(pid))
				_ = theirs.Close() // the server has its own now, and must see ours close
				l.activity(runtimes.Activity{
					Type:    "starting",
					Summary: "the MCP server runs",
					PID:     pid,
					Stream:  "request",
				})
			},
		})
		_ = theirs.Close()
		_ = printed.Close()
		cancel()
		// Its last output is still on its way to the reader.
		time.AfterFunc(lastWords, func() { stop(errEnded) })
	}()
	return s
}

// lastWords is how long it may take to understand the last output of a server that has ended.
const lastWords = 500 * time.Millisecond

var errEnded = errors.New("the server ended")

func (s *stdio) transport() mcp.Transport {
	return &mcpwire.Stream{
		In:   s.out,
		Out:  s.input(),
		Line: maxMessage,
		End:  s.out.Close,
		Odd: func(line []byte, problem error) ([]byte, error) {
			if errors.Is(problem, mcpwire.ErrTooLong) {
				return nil, fmt.Errorf("a message of the server is longer than %d MiB", maxMessage>>20)
			}
			// Servers print banners and logs where they should not.
			_, _ = fmt.Fprintf(s.log, "[mcp] not a message: %s\n",
				runtimes.OneLine(string(line[:min(len(line), maxTail)])))
			return nil, nil
		},
	}
}

// input returns the writer of messages to the server.
func (s *stdio) input() io.Writer {
	if s.in == nil {
		return brokenPipe{}
	}
	return s.in
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func (s *stdio) initialized(string) {}

// end closes the server's input, which tells it to end, and kills it when it does not.
func (s *stdio) end(ctx context.Context) {
	s.hush()
	t := time.NewTimer(endGrace)
	defer t.Stop()
	select {
	case <-s.done:
	case <-t.C:
	case <-ctx.Done():
	}
	s.cancel()
	_ = s.out.Close() // does not wait for a process that still prints
	<-s.done
}

// hush stops writing to the server; a write under way ends with an error.
func (s *stdio) hush() {
	if s.in != nil {
		_ = s.in.Close()
	}
}

func (s *stdio) process() (int, *int, string) {
	select {
	case <-s.done:
		return int(s.number.Load()), s.res.Exit, s.res.Signal
	default:
		return int(s.number.Load()), nil, ""
	}
}

func (s *stdio) explain(err error) *failure {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil // it lives, and says no
	}
	select {
	case <-s.done:
	case <-time.After(lastWords):
		return nil
	}
	if s.res.StartErr != nil {
		f := &failure{
			class:    ClassStart,
			message:  "the server could not be started: " + s.res.StartErr.Error(),
			recovery: "Install the program or correct command and cwd of the runtime, then: git agentxchain unblock",
		}
		return f
	}
	how := "it was ended by " + s.res.Signal
	if s.res.Exit != nil {
		how = fmt.Sprintf("its exit status was %d", *s.res.Exit)
	}
	message := "the server ended before it had answered; " + how
	if said := strings.TrimSpace(s.tail.text()); said != "" {
		message += ", its last words: " + said
	}
	return &failure{class: ClassConnection, message: message, retryable: true}
}

// limited passes on a limited number of bytes.
type limited struct {
	w    io.Writer
	left int64
	over func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left < int64(len(p)) {
		if l.over != nil {
			l.over()
			l.over = nil
		}
		l.left = 0
		return len(p), nil
	}
	l.left -= int64(len(p))
	_, _ = l.w.Write(p)
	return len(p), nil
}

// tailWriter writes lines to the log, marked as diagnostics, and remembers the end.
type tailWriter struct {
	log  io.Writer
	mu   sync.Mutex
	last []byte
	mid  bool // in the middle of a line
}

func (t *tailWriter) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if n := len(t.last) - maxTail; n > 0 {
		t.last = append(t.last[:0], t.last[n:]...)
	}
	for line := range strings.Lines(string(p)) {
		if !t.mid {
			_, _ = io.WriteString(t.log, "[stderr] ")
		}
		_, _ = io.WriteString(t.log, line)
		t.mid = !strings.HasSuffix(line, "\n")
	}
	return len(p), nil
}

func (t *tailWriter) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.last), "")
}
