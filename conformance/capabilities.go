// capabilities.json: what an implementation claims and how its adapter is started (docs/conformance.md#checking).

package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// CapabilitiesPath is where a target keeps its capabilities, below its root.
const CapabilitiesPath = ".agentxchain-conformance/capabilities.json"

// Adapter protocols.
const (
	ProtocolStdio = "stdio-fixture-v1"
	ProtocolHTTP  = "http-fixture-v1"
)

// maxCapabilities bounds a capabilities document in bytes.
const maxCapabilities = 1 << 20

// Capabilities is a checked capabilities document.
type Capabilities struct {
	Implementation  string
	Version         string        // "" when it is not text
	ProtocolVersion ojson.Value   // as written; nil when absent or empty
	Command         []string      // of a stdio adapter, else nil
	Tiers           []int         // claimed tiers
	Surfaces        *ojson.Object // nil when no claims are made
}

// knownSurfaces returns the thirteen surfaces of protocol v7, those of tier 1 first.
func knownSurfaces() []string {
	return []string{
		"state_machine", "turn_result_validation", "gate_semantics", "decision_ledger", "history", "config_schema",
		"delegation", "decision_carryover", "parallel_turns", "event_lifecycle",
		"dispatch_manifest", "hook_audit", "coordinator",
	}
}

// tierOneSurfaces is how many of knownSurfaces belong to tier 1.
const tierOneSurfaces = 10

// OwnCapabilities returns this program's document. protocol is ProtocolStdio or ProtocolHTTP; command is the
// adapter's argv for the former.
func OwnCapabilities(version, protocolVersion, protocol string, command []string) *ojson.Object {
	adapter := ojson.NewObject("protocol", protocol)
	if protocol == ProtocolStdio {
		adapter.Set("command", command)
	}
	surfaces := ojson.NewObject()
	for _, s := range knownSurfaces() {
		surfaces.Set(s, true)
	}
	return ojson.NewObject(
		"implementation", "git-agentxchain",
		"version", version,
		"protocol_version", protocolVersion,
		"adapter", adapter,
		"tiers", []any{ojson.Int(1), ojson.Int(2), ojson.Int(3)},
		"surfaces", surfaces,
		"metadata", ojson.NewObject("name", "git agentxchain",
			"url", "https://github.com/git-agentxchain/git-agentxchain"),
	)
}

// SkeletonCapabilities returns the document with which another implementation starts: it claims the first tier, and
// its adapter is next to the document.
func SkeletonCapabilities(implementation, protocolVersion string) *ojson.Object {
	surfaces := ojson.NewObject()
	for i, s := range knownSurfaces() {
		surfaces.Set(s, i < tierOneSurfaces)
	}
	return ojson.NewObject(
		"implementation", implementation,
		"version", "0.0.0",
		"protocol_version", protocolVersion,
		"adapter", ojson.NewObject("protocol", ProtocolStdio,
			"command", []string{"./.agentxchain-conformance/adapter"}),
		"tiers", []any{ojson.Int(1)},
		"surfaces", surfaces,
		"metadata", ojson.NewObject("name", implementation),
	)
}

// NoCapabilitiesError says, in every verifier's words, that a directory is not a target.
type NoCapabilitiesError struct{ File string }

func (e *NoCapabilitiesError) Error() string { return "Missing capabilities file at " + e.File }

// LoadCapabilities reads the capabilities of the target at root.
func LoadCapabilities(root string) (*Capabilities, error) {
	file := filepath.Join(root, filepath.FromSlash(CapabilitiesPath))
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &NoCapabilitiesError{file}
	case err != nil:
		return nil, fmt.Errorf("the capabilities file cannot be read: %w", err)
	case !st.Mode().IsRegular():
		// A pipe would block the verifier forever.
		return nil, fmt.Errorf("the capabilities file %s is not a regular file", file)
	case st.Size() > maxCapabilities:
		return nil, fmt.Errorf("the capabilities file %s is larger than %d KiB", file, maxCapabilities>>10)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the capabilities file cannot be read: %w", err)
	}
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: maxCapabilities, LastWins: true})
	if err != nil {
		return nil, wireError("Invalid capabilities.json: it is not JSON: %w", err)
	}
	return NewCapabilities(v, ProtocolStdio)
}

// NewCapabilities checks a decoded document whose adapter must speak protocol. The error has all findings.
func NewCapabilities(v ojson.Value, protocol string) (*Capabilities, error) {
	o, ok := v.(*ojson.Object)
	if !ok || o == nil {
		return nil, wireError("Invalid capabilities.json: capabilities must be an object, not %s", ojson.TypeName(v))
	}
	c := &Capabilities{Version: o.String("version")}
	var bad []string
	if c.Implementation = o.String("implementation"); blank(c.Implementation) {
		bad = append(bad, "capabilities.implementation must be a non-empty string")
	}
	bad = append(bad, c.tiers(o)...)
	bad = append(bad, c.adapter(o, protocol)...)
	if len(bad) > 0 {
		return nil, wireError("Invalid capabilities.json: %s", strings.Join(bad, "; "))
	}
	if v, _ := o.Get("protocol_version"); ojson.Truthy(v) {
		c.ProtocolVersion = v
	}
	switch v := o.Value("surfaces").(type) {
	case *ojson.Object:
		c.Surfaces = v
	case []any:
		// A list claims no surface.
		c.Surfaces = ojson.NewObject()
	}
	return c, nil
}

func (c *Capabilities) tiers(o *ojson.Object) (bad []string) {
	list, ok := o.Value("tiers").([]any)
	if !ok || len(list) == 0 {
		return []string{"capabilities.tiers must be a non-empty array"}
	}
	for _, v := range list {
		n, isNumber := v.(ojson.Number)
		f, _ := n.Float64()
		if !isNumber || f != 1 && f != 2 && f != 3 {
			bad = append(bad, fmt.Sprintf(`capabilities.tiers contains invalid tier "%s"`, plain(v)))
			continue
		}
		c.Tiers = append(c.Tiers, int(f))
	}
	return bad
}

func (c *Capabilities) adapter(o *ojson.Object, protocol string) (bad []string) {
	a := o.Object("adapter")
	if a == nil {
		return []string{"capabilities.adapter must be an object"}
	}
	if a.String("protocol") != protocol {
		bad = append(bad, fmt.Sprintf(`capabilities.adapter.protocol must be "%s"`, protocol))
	}
	if protocol != ProtocolStdio {
		return bad
	}
	list, ok := a.Value("command").([]any)
	if !ok || len(list) == 0 {
		return append(bad, "capabilities.adapter.command must be a non-empty array")
	}
	for i, v := range list {
		word, ok := v.(string)
		if !ok || strings.ContainsRune(word, 0) || i == 0 && blank(word) {
			return append(bad,
				fmt.Sprintf("capabilities.adapter.command[%d] must be text a program can be started with", i))
		}
		c.Command = append(c.Command, word)
	}
	return bad
}

// claims reports whether a tier is claimed.
func (c *Capabilities) claims(tier int) bool { return slices.Contains(c.Tiers, tier) }

// CheckSurface refuses an unclaimed surface. Without any claims every surface may be requested.
func (c *Capabilities) CheckSurface(surface string) error {
	if surface == "" || c.Surfaces == nil {
		return nil
	}
	if ojson.Truthy(c.Surfaces.Value(surface)) {
		return nil
	}
	claimed := c.claimed()
	if len(claimed) == 0 {
		claimed = []string{"none"}
	}
	return wireError(`Surface "%s" is not claimed in capabilities.json. Claimed surfaces: %s`, text.Clip(surface, 100),
		strings.Join(claimed, ", "))
}

// claimed lists the claimed surfaces, in document order.
func (c *Capabilities) claimed() []string {
	var out []string
	for k, v := range c.Surfaces.All() {
		if ojson.Truthy(v) {
			out = append(out, k)
		}
	}
	return out
}

// plain formats a value for a message, text without its quotes.
func plain(v ojson.Value) string {
	if s, ok := v.(string); ok {
		return text.Clip(s, 100)
	}
	return show(v)
}
