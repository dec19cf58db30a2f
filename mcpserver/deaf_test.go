package mcpserver

import (
	"context"
	"io"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// A client that never reads its answers does not prevent the server from ending, and once the
// client's end of the pipe is closed nothing is left of the server.
func TestAClientThatNeverReads(t *testing.T) {
	testrepo.Serving(t)
	in, ask := io.Pipe()
	unread, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- Serve(ctx, Options{Dir: t.TempDir(), Getenv: func(string) string { return "" }}, in, out)
	}()
	if _, err := io.WriteString(ask,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := unread.Read(make([]byte, 1)); err != nil { // the answer is on its way, and is not read
		t.Fatal(err)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	_ = unread.Close()
	_ = ask.Close()
}
