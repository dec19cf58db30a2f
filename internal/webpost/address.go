// Addresses as they may be shown, and the host they stand for.

package webpost

import (
	"errors"
	"net"
	"net/url"
)

// ShownURL is an address without credentials, query and fragment, which may hold
// keys; "" when it is none.
func ShownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// HostPort is where a connection to an http or https address goes, "host:port".
func HostPort(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("not an http or https URL")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
