// Package prom measures a server of the ALX protocol and tells the measurements in
// Prometheus's text form, version 0.0.4. The server itself knows server.Meter only.
package prom
