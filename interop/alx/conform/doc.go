// Package conform judges endpoints of the ALX protocol, ours or another's. It talks to the endpoint
// once, then judges each rule by what it saw; an endpoint's name or wording does not matter. It
// trusts no endpoint's statement of its size or speed.
package conform
