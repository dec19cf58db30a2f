// Package neighbours is the commands for the neighbour protocols: alx, monarchic and serve, what
// they speak is below interop; and import, for what other tools noted.
package neighbours
