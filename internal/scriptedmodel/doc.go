// Package scriptedmodel is a model server for tests: it speaks the wire formats of the
// providers that agents on the command line use, and answers by script instead of a
// model. With it the real programs carry a run without a key and without a network. It
// judges nothing and is not part of the program.
package scriptedmodel
