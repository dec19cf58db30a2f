// Where the server listens.

package server

import (
	"context"
	"net"

	"github.com/git-agentxchain/git-agentxchain/internal/listen"
)

// DefaultListen is the default address of the server.
const DefaultListen = "127.0.0.1:7870"

// Listen opens a socket: listen.TCP. An address that other machines can reach needs a token.
func Listen(ctx context.Context, addr, token string) (net.Listener, error) {
	return listen.TCP(ctx, addr, listen.Options{Token: token, Exposes: "start the project's agents",
		GiveWith: "give it in AGENTXCHAIN_SERVE_TOKEN or with --token-file"})
}
