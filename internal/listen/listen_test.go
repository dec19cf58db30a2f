package listen_test

import (
	"net"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/listen"
)

func TestTCP(t *testing.T) {
	token := "long enough for it"
	for _, c := range []struct {
		addr  string
		token string
		tls   bool
		want  string
	}{
		{addr: "127.0.0.1:0"},
		{addr: "localhost:0"},
		{addr: ":0"},
		{addr: "0"},
		{addr: "0.0.0.0:0", want: "listening on 0.0.0.0 needs a token: anyone who reaches it can do harm"},
		{addr: "[::]:0", want: "listening on :: needs a token: anyone who reaches it can do harm"},
		{addr: "0.0.0.0:0", token: token, want: "listening on 0.0.0.0 needs TLS: the token would travel in the clear"},
		{addr: "0.0.0.0:0", token: "short", tls: true, want: "listening on 0.0.0.0 needs a token of at least 16 characters"},
		{addr: "0.0.0.0:0", token: token, tls: true},
		{addr: "127.0.0.1:65536", want: `invalid port "65536": it must be a number from 0 to 65535`},
		{addr: "127.0.0.1:http", want: `invalid port "http": it must be a number from 0 to 65535`},
		{addr: "127.0.0.1:", want: `invalid port "": it must be a number from 0 to 65535`},
		{addr: "a:b:c", want: `invalid address "a:b:c": it must be HOST:PORT`},
	} {
		l, err := listen.TCP(t.Context(), c.addr,
			listen.Options{Token: c.token, InClear: !c.tls, Exposes: "do harm"})
		if err != nil && err.Error() != c.want || err == nil && c.want != "" {
			t.Errorf("%s: %v, want %q", c.addr, err, c.want)
		}
		if err != nil {
			continue
		}
		if ip := l.Addr().(*net.TCPAddr).IP; ip.IsLoopback() != (c.token == "") || listen.Only(l.Addr()) != ip.IsLoopback() {
			t.Errorf("%s: listens on %s", c.addr, ip)
		}
		_ = l.Close()
	}
}

// All of IPv4 is not all addresses: only what was requested is served and shown.
func TestTCPOfIPv4(t *testing.T) {
	l, err := listen.TCP(t.Context(), "0.0.0.0:0", listen.Options{Token: "long enough for it"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if host, _, _ := net.SplitHostPort(l.Addr().String()); host != "0.0.0.0" {
		t.Errorf("it listens on %s", l.Addr())
	}
}

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "localhost.example.org": false, "127.0.0.1.example.org": false,
	} {
		if got := listen.Local(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
