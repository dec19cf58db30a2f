// monarchic proto: the protobuf form of the protocol, for clients in any language.

package neighbours

import (
	"context"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/proto"
)

func newMonarchicProtoCommand(f *term.Factory) *ucli.Command {
	return &ucli.Command{
		Name: "proto", Usage: "print the .proto of the protocol",
		Description: "Writes " + proto.Name +
			" to standard output: what protoc, buf and gRPC libraries make clients of. " +
			"It needs no repository. git agentxchain monarchic serve answers gRPC reflection with the same definitions.",
		Action: func(c *ucli.Context) error { return runMonarchicProto(c.Context, f) },
	}
}

func runMonarchicProto(_ context.Context, f *term.Factory) error {
	if f.JSON() {
		f.Out.Emit(ojson.NewObject("name", proto.Name, "text", string(proto.Text)), nil)
		return nil
	}
	_, err := f.Out.Raw().Write(proto.Text)
	return err
}
