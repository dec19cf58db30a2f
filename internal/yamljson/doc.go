// Package yamljson turns one YAML document into the JSON text it means, so that what a
// person wrote in YAML passes through the decoder that JSON passes through.
package yamljson
