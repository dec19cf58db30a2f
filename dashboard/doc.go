// Package dashboard is the read-only web view of a run, of an initiative and of a
// replayed artifact (docs/dashboard.md#api, docs/dashboard.md). It serves pages and a
// JSON API on the loopback interface, to clients with the session's token, and changes
// nothing: every request is a GET, and the server's own watch over the files reads what
// they show, never a request.
package dashboard
