// Package portable holds the open family of protocol objects, the JSON form of
// the protobuf messages (docs/monarchic.md#types). Reading is lenient (two
// spellings of a member, tokens as names or numbers, integers as strings),
// writing is canonical, and unknown members survive in their place. The
// strict family, whose types share many names, is a package of its own so that
// the two never mix; only the words of the client boundary in a Plan are its.
package portable
