// Shell completion: three small scripts that ask the program itself what can come next.

package term

import (
	"bytes"
	"io"
	"slices"
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
			"  bash, in ~/.bashrc after git's own:\n" +
			"    eval \"$(git agentxchain completion bash)\"\n" +
			"  zsh, with DIR in $fpath, or in ~/.zshrc after compinit by eval as for bash:\n" +
			"    git agentxchain completion zsh > DIR/_git-agentxchain\n" +
			"  fish, in config.fish:\n" +
			"    git agentxchain completion fish | source",
		BashComplete: func(c *ucli.Context) { _, _ = io.WriteString(c.App.Writer, "bash\nzsh\nfish\n") },
		Action:       func(c *ucli.Context) error { return runCompletion(f, c.Args().First()) },
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

// git's own completion calls _git_agentxchain for "git agentxchain <TAB>" with the words in $words
// and $cword. COMP_TYPE is 63, 33 or 64 when bash lists the possible words.
const bashCompletion = `# bash completion of git-agentxchain
__git_agentxchain_ask() {
	local IFS=$'\n' answer line answers
	answers=($(git-agentxchain __complete -- "$@" 2>/dev/null))
	COMPREPLY=()
	if [ "${answers[*]}" = :files ]; then
		compopt -o default 2>/dev/null
		return
	fi
	for answer in "${answers[@]}"; do
		line=${answer%%$'\t'*}
		case "${#answers[@]}:$COMP_TYPE:$answer" in
		1:*) ;;
		*:63:*$'\t'* | *:33:*$'\t'* | *:64:*$'\t'*)
			line="$line  (${answer#*$'\t'})"
			line=${line:0:${COLUMNS:-80}-2}
			;;
		esac
		COMPREPLY+=("$line")
	done
}

_git_agentxchain() {
	local i start=1 at=()
	for ((i = 1; i < cword; i++)); do
		case ${words[i]} in
		agentxchain) start=$((i + 1)); break ;;
		-C) at=(-C "${words[++i]}") ;;
		esac
	done
	__git_agentxchain_ask "${at[@]}" "${words[@]:start:cword-start+1}"
}

_git_agentxchain_direct() {
	__git_agentxchain_ask "${COMP_WORDS[@]:1:COMP_CWORD}"
}
complete -F _git_agentxchain_direct git-agentxchain
`

const zshCompletion = `#compdef git-agentxchain
# zsh completion of git-agentxchain
_git-agentxchain() {
	local -a answers described at
	local answer
	# zsh's _git calls this with its own words taken off, and keeps what came before them.
	[[ $service == git && -n ${opt_args[-C]} ]] && at=(-C "${(Q)${~opt_args[-C]}}")
	answers=("${(@f)$(git-agentxchain __complete -- "${at[@]}" "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ ${answers[1]} == :files ]]; then
		_files
	elif [[ -n ${answers[1]} ]]; then
		for answer in "${answers[@]}"; do
			if [[ $answer == *$'\t'* ]]; then
				described+=("${${answer%%$'\t'*}//:/\\:}:${answer#*$'\t'}")
			else
				described+=("${answer//:/\\:}")
			fi
		done
		_describe -V answer described
	fi
}
if [[ ${funcstack[1]} == _git-agentxchain ]]; then
	_git-agentxchain "$@"
elif (( $+functions[compdef] )); then # sourced, as in .zshrc
	compdef _git-agentxchain git-agentxchain
fi
`

const fishCompletion = `# fish completion of git-agentxchain
function __git_agentxchain_complete
	set -l tokens (commandline -opc) (commandline -ct)
	set -l start 2
	set -l at
	if test "$tokens[1]" = git
		while set -q tokens[$start]; and test "$tokens[$start]" != agentxchain
			if test "$tokens[$start]" = -C
				set start (math $start + 1)
				set at -C $tokens[$start]
			end
			set start (math $start + 1)
		end
		set start (math $start + 1)
	end
	for answer in (git-agentxchain __complete -- $at $tokens[$start..-1] 2>/dev/null)
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

// Word is a possible next word, and its description.
type Word struct{ Text, About string }

// line returns a word for a completion script: its description follows a tab.
func (w Word) line() string {
	if w.About == "" {
		return w.Text
	}
	return OneLine(w.Text) + "\t" + Truncate(OneLine(w.About), 70)
}

// CompleteCommand is what the scripts call, with the words after the program's name, the last one
// being completed.
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
				_, _ = io.WriteString(w, answer.line()+"\n")
			}
			return nil
		},
	}
}

// filesAnswer asks the shell to complete file names itself.
const filesAnswer = ":files"

// complete lists the possible completions of the last of words.
func complete(f *Factory, words []string) []Word {
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
	f.Global.Dir = p.inv.Global.Dir
	cmd := p.inv.command()
	switch {
	case pending != "":
		return matching(valuesOf(f, cmd, pending), last)
	case strings.HasPrefix(last, "-"):
		if name, value, ok := strings.Cut(last, "="); ok {
			out := matching(valuesOf(f, cmd, strings.TrimLeft(name, "-")), value)
			for i := range out {
				out[i].Text = name + "=" + out[i].Text
			}
			return out
		}
		return matching(flagWords(cmd), last)
	}
	var out []Word
	subs := app.Commands
	if cmd != nil {
		subs = cmd.Subcommands
	}
	if !p.seen {
		out = matching(commandWords(subs), last)
	}
	if cmd != nil && cmd.BashComplete != nil {
		var b bytes.Buffer
		app.Writer = &b
		c := ucli.NewContext(app, nil, nil)
		c.Command = cmd
		cmd.BashComplete(c)
		return append(out, matching(wordsOf(strings.Fields(b.String())), last)...)
	}
	if cmd != nil {
		out = append(out, matching(operandWords(f, cmd.ArgsUsage, len(p.pos)), last)...)
	}
	return out
}

// operandWords returns the possible words at a place of the operands that ArgsUsage names.
func operandWords(f *Factory, usage string, place int) []Word {
	names := strings.Fields(usage)
	if len(names) == 0 {
		return nil
	}
	if place >= len(names) {
		if place = len(names) - 1; !strings.Contains(names[place], "...") {
			return nil
		}
	}
	var out []Word
	for kind := range strings.SplitSeq(strings.NewReplacer("[", "", "]", "", ".", "").Replace(names[place]), "|") {
		out = append(out, kindWords(f, kind)...)
	}
	return out
}

// kindWords returns the possible words where help says KIND.
func kindWords(f *Factory, kind string) []Word {
	switch kind, _, _ = strings.Cut(kind, ":"); kind {
	case "FILE", "DIR", "PATH":
		return []Word{{Text: filesAnswer}}
	case "ROLE", "PHASE", "GATE", "TURN", "RUN", "OP":
		if f.Program.Words != nil {
			return f.Program.Words(f, kind)
		}
	}
	return nil
}

func commandWords(list []*ucli.Command) (out []Word) {
	for _, c := range list {
		if !c.Hidden {
			out = append(out, Word{c.Name, c.Usage})
		}
	}
	return out
}

// flagWords lists the long flags valid here.
func flagWords(cmd *ucli.Command) []Word {
	var out []Word
	for _, h := range helpsOf(cmd) {
		for _, n := range h.Names {
			if len(n) > 1 {
				out = append(out, Word{"--" + n, h.usage})
			}
		}
	}
	return out
}

func helpsOf(cmd *ucli.Command) []flagHelp {
	if cmd == nil {
		return globalHelps()
	}
	own := FlagHelps(cmd)
	return append(own, globalHelps(own...)...)
}

// valuesOf lists the values a flag can take, or asks for files.
func valuesOf(f *Factory, cmd *ucli.Command, name string) []Word {
	for _, h := range helpsOf(cmd) {
		switch {
		case !slices.Contains(h.Names, name):
		case len(h.choices) > 0:
			return wordsOf(h.choices)
		case h.value == "ID":
			return kindWords(f, strings.ToUpper(h.Names[0])) // --turn ID
		default:
			return kindWords(f, h.value)
		}
	}
	return nil
}

func wordsOf(texts []string) []Word {
	out := make([]Word, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

func matching(list []Word, prefix string) []Word {
	return slices.DeleteFunc(slices.Clone(list), func(w Word) bool {
		return w.Text != filesAnswer && !strings.HasPrefix(w.Text, prefix)
	})
}
