// Package prom measures a server of the ALX protocol and exposes the measurements in Prometheus's
// text form, version 0.0.4. The server itself knows only server.Meter.
package prom
