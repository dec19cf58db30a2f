// Listening addresses, and which of them need protection.

package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// minPublicToken is the minimum length of a token that protects an address other machines can reach.
const minPublicToken = 16

// Options say what protects a server.
type Options struct {
	Token    string
	Exposes  string // what anyone who reaches it without a token could do: "start the project's agents"
	GiveWith string // how to set the token
	InClear  bool   // the token would be sent unencrypted, which is not enough
}

// TCP opens a socket. addr is HOST:PORT, :PORT or PORT; without HOST it is 127.0.0.1, and port 0 picks a free one.
// An address that other machines can reach needs a token of at least 16 characters that is not sent unencrypted.
//
// Errors: usage for an invalid or unavailable address, io_failed.
func TCP(ctx context.Context, addr string, o Options) (net.Listener, error) {
	if !strings.Contains(addr, ":") {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, unfit("", "invalid address %q: it must be HOST:PORT", text.Clip(addr, 100))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, unfit("", "invalid port %q: it must be a number from 0 to 65535", text.Clip(port, 100))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if !Local(host) {
		if err := o.guards(text.Clip(host, 100)); err != nil {
			return nil, err
		}
	}
	network := "tcp"
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4" // 0.0.0.0 would also open the IPv6 addresses
	}
	l, err := new(net.ListenConfig).Listen(ctx, network, net.JoinHostPort(host, port))
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, &wire.Error{Code: "io_failed", Hint: "name another address with --listen",
			Message: fmt.Sprintf("cannot listen on %s: %v", net.JoinHostPort(host, port), err)}
	}
	if Only(l.Addr()) {
		return l, nil
	}
	// Only now is it known what a name resolves to.
	if err := o.guards(text.Clip(host, 100)); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// guards returns an error if the options do not protect a host that other machines can reach.
func (o Options) guards(host string) error {
	switch {
	case o.Token == "":
		return unfit(o.GiveWith, "listening on %s needs a token: anyone who reaches it can %s", host, o.Exposes)
	case o.InClear:
		return unfit(o.GiveWith, "listening on %s needs TLS: the token would travel in the clear", host)
	case len(o.Token) < minPublicToken:
		return unfit("", "listening on %s needs a token of at least %d characters", host, minPublicToken)
	}
	return nil
}

func unfit(hint, format string, args ...any) error {
	return &wire.Error{Code: "usage", Field: "listen", Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Only reports whether only this machine can connect to an address.
func Only(a net.Addr) bool {
	host, _, err := net.SplitHostPort(a.String())
	return err == nil && Local(host)
}

// Local reports whether a host name or address means only this machine.
func Local(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
