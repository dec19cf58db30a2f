// Package schematest compares the JSON Schemas of docs/schemas with the code: the judgements of a schema and of the
// code about the same documents, schemas made from types, and the files that hold them. Only tests import it.
package schematest
