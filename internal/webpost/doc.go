// Package webpost sends one JSON document to one address and reads the answer, within a time and a size that the
// caller sets. It follows no redirects, keeps no cookies or connections, and its errors contain neither header
// values nor the credentials and query of an address.
package webpost
