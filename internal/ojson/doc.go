// Package ojson reads and writes JSON without losing what it does not know: member order, unknown members and
// number spellings survive a round trip.
//
// The protocol needs this because the order of keys in "routing" is the order of phases, and because another
// implementation's fields must survive our read-modify-write. encoding/json preserves neither.
package ojson
