// Addresses in a form that may be shown, and their hosts.

package webpost

import (
	"errors"
	"net"
	"net/url"
)

// ShownURL returns an address without credentials, query and fragment, which may hold keys; "" for an invalid
// address.
func ShownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// HostPort returns the target of a connection to an http or https address, "host:port".
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
