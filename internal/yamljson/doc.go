// Package yamljson converts one YAML document to the JSON text it means, so that YAML written by a person goes
// through the same decoder as JSON.
package yamljson
