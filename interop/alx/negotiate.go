// Version negotiation: another major version is refused, another minor is served (docs/alx.md#envelope).

package alx

import (
	"strconv"
	"strings"
)

// supportedVersions returns the wire versions that can be requested by name; other minors of the
// same major are served as well.
func supportedVersions() []string { return []string{"1.0", Version} }

// Negotiate judges what a client says about itself; nil, and a protocol that names no version, are
// served. Capabilities are never a reason to refuse (WG-07).
func Negotiate(client *Protocol) *Error {
	if client == nil || client.Version == "" {
		return nil
	}
	major, ok := majorVersion(client.Version)
	if !ok {
		return Errorf(CodeInvalidRequest, "protocol.protocol_version must look like %s, not %s", Version,
			strconv.Quote(clip(client.Version))).
			With("field", "protocol.protocol_version").With("supportedVersions", supportedVersions())
	}
	if ours, _ := majorVersion(Version); major != ours {
		return Errorf(CodeProtocolVersionUnsupported, "protocol version %s is not spoken here, only major version %d",
			client.Version, ours).
			With("requestedVersion", client.Version).With("supportedVersions", supportedVersions())
	}
	return nil
}

// majorVersion reads MAJOR[.MINOR[.PATCH]]; each part is a short number.
func majorVersion(v string) (int, bool) {
	parts := strings.Split(v, ".")
	if len(parts) > 3 {
		return 0, false
	}
	for _, p := range parts {
		if p == "" || len(p) > 6 || strings.Trim(p, "0123456789") != "" {
			return 0, false
		}
	}
	n, err := strconv.Atoi(parts[0])
	return n, err == nil
}

// clip shortens a foreign text for a message.
func clip(s string) string {
	const limit = 60
	for i := range s {
		if i > limit {
			return s[:i] + "…"
		}
	}
	return s
}
