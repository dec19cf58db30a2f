// Shell completion: three small scripts that ask the program itself what can come next.

package term

import (
	"bytes"
	"io"
	"strings"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CompletionCommand prints the completion script of a shell.
func CompletionCommand(f *Factory, category string) *ucli.Command {
	return &ucli.Command{
		Name:      "completion",
		Category:  category,
		Usage:     "print the completion script of a shell",
		ArgsUsage: "SHELL",
		Description: "SHELL is bash, zsh or fish.\n\n" +
			"  bash  eval \"$(git agentxchain completion bash)\"       in ~/.bashrc, after git's own\n" +
			"  zsh   git agentxchain completion zsh > DIR/_git-agentxchain   with DIR in $fpath\n" +
			"  fish  git agentxchain completion fish | source         in config.fish",
		BashComplete: func(c *ucli.Context) { _, _ = io.WriteString(c.App.Writer, "bash\nzsh\nfish\n") },
		Action: func(c *ucli.Context) error {
			return runCompletion(f, c.Args().First())
		},
	}
}

func runCompletion(f *Factory, shell string) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[shell]
	if script == "" {
		return UsageErrorf("no completion for %q; there is bash, zsh and fish", OneLine(shell))
	}
	f.Out.Emit(ojson.NewObject("shell", shell, "script", script), func(p *Printer) { p.Printf("%s", script) })
	return nil
}

// git's own completion calls _git_agentxchain for "git agentxchain <TAB>" with
// the words in $words and $cword.
const bashCompletion = `# bash completion of git-agentxchain
__git_agentxchain_ask() {
	local IFS=$'\n'
	COMPREPLY=($(git-agentxchain __complete -- "$@" 2>/dev/null))
	if [ "${#COMPREPLY[@]}" -eq 1 ]; then
		case "${COMPREPLY[0]}" in
		*=) compopt -o nospace 2>/dev/null ;;
		:files) COMPREPLY=(); compopt -o default 2>/dev/null ;;
		esac
	fi
}

_git_agentxchain() {
	local i start=1
	for ((i = 0; i < cword; i++)); do
		if [ "${words[i]}" = agentxchain ]; then start=$((i + 1)); break; fi
	done
	__git_agentxchain_ask "${words[@]:start:cword-start+1}"
}

_git_agentxchain_direct() {
	__git_agentxchain_ask "${COMP_WORDS[@]:1:COMP_CWORD}"
}
complete -F _git_agentxchain_direct git-agentxchain
`

const zshCompletion = `#compdef git-agentxchain
# zsh completion of git-agentxchain
_git-agentxchain() {
	local -a answers
	answers=("${(@f)$(git-agentxchain __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ ${answers[1]} == :files ]]; then
		_files
	elif [[ -n ${answers[1]} ]]; then
		compadd -- "${answers[@]}"
	fi
}
_git-agentxchain "$@"
`

const fishCompletion = `# fish completion of git-agentxchain
function __git_agentxchain_complete
	set -l tokens (commandline -opc) (commandline -ct)
	set -l start 2
	if test "$tokens[1]" = git
		set start (math (contains -i agentxchain $tokens; or echo 1) + 1)
	end
	for answer in (git-agentxchain __complete -- $tokens[$start..-1] 2>/dev/null)
		if test "$answer" = :files
			__fish_complete_path (commandline -ct)
		else
			echo $answer
		end
	end
end
complete -c git-agentxchain -f -a '(__git_agentxchain_complete)'
complete -c git -n '__fish_seen_subcommand_from agentxchain' -f -a '(__git_agentxchain_complete)'
complete -c git -n __fish_use_subcommand -a agentxchain -d 'governed runs of agents and people'
`

// CompleteCommand is what the scripts call: the words after the program's
// name, the last one being completed.
func CompleteCommand(f *Factory) *ucli.Command {
	return &ucli.Command{
		Name:            "__complete",
		Hidden:          true,
		Usage:           "answer a completion script",
		SkipFlagParsing: true,
		Action: func(c *ucli.Context) error {
			words := c.Args().Slice()
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			w := f.Out.Raw()
			for _, answer := range complete(f, words) {
				_, _ = io.WriteString(w, answer+"\n")
			}
			return nil
		},
	}
}

// filesAnswer asks the shell to complete file names itself.
const filesAnswer = ":files"

// complete lists what the last of words can become.
func complete(f *Factory, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	app := NewApp(f)
	p := &lineParser{app: app, rewrite: f.Program.Rewrites, given: map[string]bool{},
		inv: &invocation{Global: GlobalOptions{Color: "auto"}}}
	var pending string // a flag whose value is being completed
	for i, w := range before {
		if w == "--" {
			_ = p.run(before[i:])
			return nil
		}
	}
	if n := len(before); n > 0 && strings.HasPrefix(before[n-1], "-") && !strings.Contains(before[n-1], "=") {
		name := strings.TrimLeft(before[n-1], "-")
		if err := p.run(before[:n-1]); err == nil {
			if takes, known := p.takesValue(name); known && takes {
				pending = name
			} else {
				_ = p.run(before[n-1:])
			}
		}
	} else if err := p.run(before); err != nil {
		return nil
	}
	cmd := p.inv.command()
	switch {
	case pending != "":
		return matching(valuesOf(cmd, pending), last)
	case strings.HasPrefix(last, "-"):
		if name, value, ok := strings.Cut(last, "="); ok {
			var out []string
			for _, v := range matching(valuesOf(cmd, strings.TrimLeft(name, "-")), value) {
				out = append(out, name+"="+v)
			}
			return out
		}
		return matching(flagWords(cmd), last)
	}
	var out []string
	subs := app.Commands
	if cmd != nil {
		subs = cmd.Subcommands
	}
	if !p.seen {
		out = matching(visibleNames(subs), last)
	}
	if cmd != nil && cmd.BashComplete != nil {
		var b bytes.Buffer
		app.Writer = &b
		c := ucli.NewContext(app, nil, nil)
		c.Command = cmd
		cmd.BashComplete(c)
		out = append(out, matching(strings.Split(strings.TrimSpace(b.String()), "\n"), last)...)
	} else if cmd != nil && strings.Contains(cmd.ArgsUsage, "FILE") {
		out = append(out, filesAnswer)
	}
	return out
}

// flagWords lists the long flags valid here.
func flagWords(cmd *ucli.Command) []string {
	var out []string
	helps := globalHelps()
	if cmd != nil {
		helps = append(FlagHelps(cmd), helps...)
	}
	for _, h := range helps {
		for _, n := range h.Names {
			if len(n) > 1 {
				out = append(out, "--"+n)
			}
		}
	}
	return out
}

// valuesOf lists the values a flag can take, or asks for files.
func valuesOf(cmd *ucli.Command, name string) []string {
	helps := globalHelps()
	if cmd != nil {
		helps = append(FlagHelps(cmd), helps...)
	}
	for _, h := range helps {
		for _, n := range h.Names {
			if n != name {
				continue
			}
			if len(h.choices) > 0 {
				return h.choices
			}
			if h.value == "FILE" || h.value == "DIR" || h.value == "PATH" {
				return []string{filesAnswer}
			}
		}
	}
	return nil
}

func matching(list []string, prefix string) []string {
	var out []string
	for _, s := range list {
		if s != "" && (s == filesAnswer || strings.HasPrefix(s, prefix)) {
			out = append(out, s)
		}
	}
	return out
}
