// Package schematest holds the JSON Schemas of docs/schemas against the code: what a schema and the
// code say of the same documents, schemas made from types, and the files they are kept in. Only tests
// import it.
package schematest
