// Package strict holds the closed family of protocol objects: the client boundary and the durable
// authority, frozen as v1, and the service boundary (docs/monarchic.md#types). Every object refuses
// unknown members, tokens match exactly, and Canonical returns the one byte form that a reader may
// compare. The portable family, whose types share many names, is a package of its own so that the
// two never mix.
package strict
