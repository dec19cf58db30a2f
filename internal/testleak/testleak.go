// Checking for goroutines at the end of a package's tests.

package testleak

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is how long the last goroutines may take to end: on a busy machine longer than goleak's default.
const patience = 15 * time.Second

// Main runs the tests of a package, for its TestMain, and ends the process.
func Main(m interface{ Run() int }, ignore ...goleak.Option) {
	status := m.Run()
	for begun := time.Now(); status == 0; {
		err := goleak.Find(ignore...)
		if err == nil {
			break
		}
		if time.Since(begun) > patience {
			fmt.Fprintf(os.Stderr, "the tests passed and left something behind: %v\n", err)
			status = 1
		}
	}
	os.Exit(status)
}
