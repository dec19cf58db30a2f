// Monarchic-runner is a runner for git agentxchain monarchic serve: it leases turns over gRPC,
// makes a command carry them out and hands in their results.
//
//	go run ./examples/monarchic-runner --connect 127.0.0.1:7465 -- ./my-agent
//
// The command gets the turn's prompt on standard input, the turn's id in AGENTXCHAIN_TURN_ID, and
// prints the turn's result as JSON. --token-file and --ca are for servers that need a token and
// TLS, --roles is for a runner that serves only some roles, --turns for one that stops after a
// number of turns.
//
// Without --connect it is a proof: it sets up a project, serves it, carries out a whole run over
// the wire, and shows that a runner whose lease has ended completes nothing.
//
//	go run ./examples/monarchic-runner --json
//
// It ends with 0 when everything held and with 1 when something did not.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/git-agentxchain/git-agentxchain/examples/internal/proof"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] == "--json" {
		proof.Main(func() (any, string, []string) {
			r := prove(context.Background(), nil)
			return r, fmt.Sprintf("monarchic runner: %s (%d turns over the wire, the late outcome was refused as %s)",
				r.Result, r.TurnsExecuted, r.LateOutcome), r.Errors
		})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "monarchic-runner:", err)
		os.Exit(1)
	}
}

// serve carries out turns until ctx ends or enough are done.
func serve(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("monarchic-runner", flag.ContinueOnError)
	addr := flags.String("connect", "", "`ADDRESS` of the server")
	id := flags.String("id", "", "name of this runner; the host's by default")
	roles := flags.String("roles", "", "serve these `ROLES` only, separated by commas")
	tokenFile := flags.String("token-file", "", "`FILE` with the bearer token in its first line")
	ca := flags.String("ca", "", "trust the certificates in `FILE` (PEM) and use TLS")
	turns := flags.Int("turns", 0, "stop after `N` turns; never when 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	command := flags.Args()
	if *addr == "" || len(command) == 0 {
		return errors.New("it takes --connect ADDRESS and, after --, the command that carries a turn out")
	}
	if *id == "" {
		host, _ := os.Hostname()
		*id = "runner-" + host
	}
	conn, err := connect(*addr, *ca, *tokenFile)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	w := &worker{
		client: pbgrpc.NewRunnerControlServiceClient(conn),
		id:     *id,
		do:     func(ctx context.Context, task *pb.Task) ([]byte, error) { return run(ctx, command, task) },
	}
	var served []string
	if *roles != "" {
		served = strings.Split(*roles, ",")
	}
	if err := w.register(ctx, served); err != nil {
		return err
	}
	for done := 0; *turns == 0 || done < *turns; {
		task, err := w.turn(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errNothing):
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(w.poll):
			}
			continue
		case err != nil:
			fmt.Fprintf(os.Stderr, "turn %s: %v\n", task.GetTaskId(), err)
			if task == nil {
				return err
			}
		default:
			fmt.Printf("turn %s (%s): accepted\n", task.TaskId, task.RoleId)
		}
		done++
	}
	return nil
}

// run makes the command carry out a turn.
func run(ctx context.Context, command []string, task *pb.Task) ([]byte, error) {
	own := task.GetExtensions().GetFields()["agentxchain"].GetStructValue().GetFields()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "AGENTXCHAIN_TURN_ID="+task.TaskId)
	cmd.Stdin = strings.NewReader(own["prompt"].GetStringValue())
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}

// connect opens the connection: with TLS when there is a CA to trust.
func connect(addr, ca, tokenFile string) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", ca)
		}
		creds = credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12})
	}
	opts := []grpc.DialOption{grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20), grpc.MaxCallSendMsgSize(16<<20))}
	if tokenFile != "" {
		f, err := os.Open(tokenFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(io.LimitReader(f, 4<<10))
		if err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(string(data), "\n")
		opts = append(opts, grpc.WithPerRPCCredentials(bearer{strings.TrimSpace(line), ca != ""}))
	}
	return grpc.NewClient(addr, opts...)
}

// bearer sends a token with every call.
type bearer struct {
	token  string
	secure bool
}

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }
