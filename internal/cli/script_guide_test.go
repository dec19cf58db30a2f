// guide: the command lines of a page, run as they are printed.

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// scriptGuide runs each line that begins with "git agentxchain" in the fenced blocks below a
// heading of docs/PAGE; WORD=WORD replaces a placeholder in capitals by a real name. A line may end
// with a finding (1, 3) but not with an error.
func scriptGuide(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: guide PAGE HEADING [WORD=WORD...]")
	}
	section, err := sectionOf(filepath.Join(os.Getenv("REPOSITORY"), "docs", args[0]), args[1])
	if err != nil {
		return err
	}
	ran := 0
	for i, block := range strings.Split(section, "```") {
		if i%2 == 0 {
			continue
		}
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "git agentxchain ") {
				continue
			}
			words := strings.Fields(line)
			for k := range words {
				for _, a := range args[2:] {
					if from, to, _ := strings.Cut(a, "="); words[k] == from {
						words[k] = to
					}
				}
			}
			fmt.Println("$ " + strings.Join(words, " "))
			out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
			fmt.Printf("%s", out)
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return err
			}
			if strings.Contains("\n"+string(out), "\nerror:") ||
				exit != nil && exit.ExitCode() != 1 && exit.ExitCode() != 3 {
				return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
			}
			ran++
		}
	}
	if ran == 0 {
		return fmt.Errorf("%q has no command line", args[1])
	}
	return nil
}

// sectionOf returns the text of a page below a heading of the second level.
func sectionOf(page, heading string) (string, error) {
	data, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	_, section, ok := strings.Cut(string(data), "\n## "+heading+"\n")
	if !ok {
		return "", fmt.Errorf("%s has no heading %q", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section, nil
}
