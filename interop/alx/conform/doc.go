// Package conform judges endpoints of the ALX protocol, ours or another's. It
// talks to the endpoint once, then judges each rule by what was seen; nothing
// goes by an endpoint's name or wording. It takes no endpoint's word for its
// size or speed.
package conform
