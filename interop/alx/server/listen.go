// Where the server listens.

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// DefaultListen is where the server listens unless told otherwise.
const DefaultListen = "127.0.0.1:7870"

// minPublicToken is the least length of a token that guards an address other machines
// can reach: what it guards starts programs.
const minPublicToken = 16

// AddressError says why an address is refused before a socket is opened.
type AddressError string

func (e AddressError) Error() string { return string(e) }

// Listen opens a socket. addr is HOST:PORT, :PORT or PORT; without HOST it is 127.0.0.1,
// and port 0 picks a free one. An address other machines can reach needs a token of at
// least 16 characters. Errors about addr are AddressError.
func Listen(ctx context.Context, addr, token string) (net.Listener, error) {
	if !strings.Contains(addr, ":") {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, AddressError(fmt.Sprintf("invalid address %q: it must be HOST:PORT", clip(addr)))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return nil, AddressError(fmt.Sprintf("invalid port %q: it must be a number from 0 to 65535", clip(port)))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !loopbackHost(host) {
		switch {
		case token == "":
			return nil,
				AddressError(fmt.Sprintf(
					"listening on %s needs a token: anyone who reaches the service can start the project's agents",
					clip(host)))
		case len(token) < minPublicToken:
			return nil, AddressError(fmt.Sprintf("listening on %s needs a token of at least %d characters", clip(host),
				minPublicToken))
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", net.JoinHostPort(host, port), err)
	}
	// What a name stands for is known only now.
	if token == "" && !LoopbackAddr(l.Addr().String()) {
		_ = l.Close()
		return nil, AddressError(
			fmt.Sprintf("%s is an address other machines can reach; listening there needs a token", clip(host)),
		)
	}
	return l, nil
}
