// Opening the dashboard in the person's browser.

package dashboard

import (
	"os"
	"runtime"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// OpenBrowser shows an address in the browser of the person, if one can be started. Without a desktop it starts none: a text browser would take the terminal. The address
// should be a ticket: every user of the machine can see it.
func OpenBrowser(address string, getenv func(string) string) {
	for _, argv := range browsers(runtime.GOOS, getenv) {
		file, err := process.Find(argv[0], ".", os.Environ())
		if err != nil {
			continue
		}
		p, err := process.Detach(append(append([]string{file}, argv[1:]...), address), "", os.Environ())
		if err != nil {
			continue
		}
		go func() { _, _ = p.Wait() }() // reaped, whenever it ends
		return
	}
}

// browsers returns the programs to try, with their arguments before the address.
func browsers(system string, getenv func(string) string) [][]string {
	var list [][]string
	for name := range strings.SplitSeq(getenv("BROWSER"), ":") {
		if argv := strings.Fields(name); len(argv) > 0 && !strings.Contains(name, "%") {
			list = append(list, argv)
		}
	}
	switch system {
	case "darwin":
		return append(list, []string{"open"})
	case "windows":
		return append(list, []string{"rundll32", "url.dll,FileProtocolHandler"})
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return list
	}
	return append(list, []string{"xdg-open"}, []string{"wslview"})
}
