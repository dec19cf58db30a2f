// Package neighbours holds the commands for the neighbour protocols: alx, monarchic and serve,
// whose protocols are below interop; and import, for the notes of other tools.
package neighbours
