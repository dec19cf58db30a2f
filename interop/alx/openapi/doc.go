// Package openapi describes the HTTP contract of interop/alx for machines. The
// schemas come from the Go types, the statuses from the table of error codes.
package openapi
