// The options of an mcp runtime (docs/runtimes.md#mcp, docs/spec/configuration.md#runtimes).

package mcp

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// DefaultTool is the tool to call when tool_name is absent.
const DefaultTool = "agentxchain_turn"

// settings are the options of one runtime; argv is empty for streamable HTTP.
type settings struct {
	id, tool string
	argv     []string
	cwd      string
	url      string
	headers  []webpost.Header
}

func readSettings(rt *config.Runtime) (*settings, error) {
	o := rt.Raw
	c := &settings{id: rt.ID, tool: o.String("tool_name"), cwd: o.String("cwd"), url: o.String("url")}
	if c.tool == "" {
		c.tool = DefaultTool
	}
	switch t := o.String("transport"); t {
	case "", "stdio":
		c.argv = runtimes.Command(o)
		if len(c.argv) == 0 {
			return nil, c.invalid("command", "names no program")
		}
	case "streamable_http":
		u, err := url.Parse(c.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, c.invalid("url", "is not an absolute http or https URL")
		}
		c.headers, _ = webpost.Resolve(o.Object("headers"), verbatim)
	default:
		return nil, c.invalid("transport", fmt.Sprintf("is %q; it can be stdio or streamable_http", t))
	}
	return c, nil
}

// verbatim keeps header values as they are written: nothing is expanded.
func verbatim(name string) (string, bool) { return "${" + name + "}", true }

func (c *settings) invalid(field, problem string) error {
	return runtimes.InvalidOption(c.id, field, problem)
}

// dir returns the directory that the server runs in.
func (c *settings) dir(root string) string {
	if filepath.IsAbs(c.cwd) {
		return c.cwd
	}
	return filepath.Join(root, filepath.FromSlash(c.cwd))
}

// redact removes from a text what must not be repeated: header values, and the credentials and
// query of the address.
func (c *settings) redact(text string) string {
	return webpost.Request{URL: c.url, Headers: c.headers}.Redact(text)
}

// programFinding looks for the program of a server that is started; nil for any other server.
func (c *settings) programFinding(env []string, root string) *runtimes.Finding {
	if len(c.argv) == 0 {
		return nil
	}
	name := c.argv[0]
	path, err := process.Find(name, c.dir(root), env)
	if err != nil {
		return &runtimes.Finding{
			Code:    "command_missing",
			Message: fmt.Sprintf("The program %s of the MCP server was not found.", runtimes.OneLine(name)),
			Hint:    "install it or correct command of runtime " + c.id,
		}
	}
	if info, err := os.Stat(c.dir(root)); err != nil || !info.IsDir() {
		return &runtimes.Finding{
			Code:    "directory_missing",
			Message: fmt.Sprintf("The directory %s of the MCP server was not found.", runtimes.OneLine(c.cwd)),
			Hint:    "correct cwd of runtime " + c.id,
		}
	}
	return &runtimes.Finding{OK: true, Code: "command_found", Message: "The MCP server's program is " + path + "."}
}
