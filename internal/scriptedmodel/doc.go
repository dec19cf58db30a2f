// Package scriptedmodel is a model server for tests: it speaks the protocols of the providers that command-line
// agents use, and answers from a script instead of a model. With it the real programs carry out a run without a key
// and without a network. It judges nothing and is not part of the program.
package scriptedmodel
