// Package pbgrpc holds the client of RunnerControlService for google.golang.org/grpc, and its
// server side, as protoc-gen-go-grpc generates them. Runners and tests call the service with it;
// the service itself (package control) does not need it, so that the program works without that
// library.
package pbgrpc
