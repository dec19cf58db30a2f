// A webhook for the acceptance scripts, and a clock that can be moved forward.

package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

var scriptServers sync.Map // address -> *httptest.Server

// scriptWebhook is the command
//
//	webhook NAME FILE      serves at the address it puts into the environment variable NAME and appends
//	                       the body of every request to FILE, one line each
//	webhook-end NAME       stops that server
func scriptWebhook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: webhook NAME FILE")
	}
	file := ts.MkAbs(args[1])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			var f *os.File
			if f, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err == nil {
				_, err = f.Write(append(body, '\n'))
				_ = f.Close()
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
	scriptServers.Store(srv.URL, srv)
}

func scriptWebhookEnd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: webhook-end NAME")
	}
	srv, ok := scriptServers.LoadAndDelete(ts.Getenv(args[0]))
	if !ok {
		ts.Fatalf("no webhook %s", args[0])
	}
	srv.(*httptest.Server).Close()
}

// scriptEnv returns the environment of the program in scripts: SCRIPT_LATER moves its clock forward
// by a duration, SCRIPT_NOW stops it at a time.
func scriptEnv() term.Env {
	env := OSEnv()
	if now, err := time.Parse(time.RFC3339, os.Getenv("SCRIPT_NOW")); err == nil {
		env.Now = func() time.Time { return now }
	}
	if d, err := time.ParseDuration(os.Getenv("SCRIPT_LATER")); err == nil {
		env.Now = func() time.Time { return time.Now().Add(d) }
	}
	return env
}
