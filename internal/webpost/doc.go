// Package webpost sends one JSON document to one address and reads what comes
// back, within a time and a size that the caller sets. It follows no redirect,
// keeps no cookie and no connection, and its errors name neither header values
// nor the credentials and query of an address.
package webpost
