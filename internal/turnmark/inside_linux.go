// Looking for the marks of a turn in this process and its ancestors (proc(5)).

package turnmark

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// lookTime bounds the walk up the ancestors. Each takes about 20 microseconds.
const lookTime = 20 * time.Second

// Look determines which turn this process belongs to. getenv reads the environment of the process itself, or of the
// caller it acts for. root is the directory of the project to be changed, nil when there is none.
//
// Missing information never counts in the process's favour. An untrustworthy /proc counts as inside. Ancestors that
// cannot be followed to the first process, and a driver in another pid namespace, count as inside while a turn of
// the project is being carried out.
func Look(getenv func(string) string, root *os.Root) Verdict {
	if id := getenv(Variable); id != "" {
		return Verdict{Turn: id}
	}
	l := looker{root: root}
	branded := branded()
	proc, err := openProc()
	if err != nil {
		return l.unsure(err.Error())
	}
	defer proc.close()
	l.proc = proc
	if !l.remembered() {
		if id, err := l.inherited(); id != "" || err != nil {
			return l.verdict(id, err)
		}
	}
	id, err := l.ancestors()
	switch {
	case id != "":
		return Verdict{Turn: id}
	case branded:
		return l.unsure("a limit on file locks that agents get was handed down to it (ulimit -H -x)")
	case err != nil && (errors.Is(err, errCovered) || errors.Is(err, errEndless)):
		return l.unsure(err.Error())
	}
	return l.driven(err)
}

// Inside returns the turn this process belongs to, "" for none, regardless of a project.
func Inside(getenv func(string) string) string { return Look(getenv, nil).Turn }

type looker struct {
	root  *os.Root
	proc  *procfs
	chain []link
}

// memory is how long the ancestors are cached after a complete walk without a mark: one command asks several times.
// A process's ancestry is fixed when it starts.
const memory = time.Second

var last struct {
	sync.Mutex
	at    time.Time
	chain []link
}

// remembered uses the ancestors from the previous look.
func (l *looker) remembered() bool {
	last.Lock()
	defer last.Unlock()
	if last.at.IsZero() || time.Since(last.at) > memory {
		return false
	}
	l.chain = last.chain
	return true
}

func (l *looker) remember() {
	last.Lock()
	defer last.Unlock()
	last.at, last.chain = time.Now(), l.chain
}

// link is one ancestor.
type link struct {
	pid    int
	strict bool // its child on our path is in another session
}

var errEndless = fmt.Errorf("its ancestors could not be followed within %s", lookTime)

func (l *looker) verdict(id string, err error) Verdict {
	if id != "" {
		return Verdict{Turn: id}
	}
	return l.unsure(err.Error())
}

// unsure returns inside because something could not be determined.
func (l *looker) unsure(why string) Verdict {
	v := Verdict{Turn: Unknown, Why: why}
	if l.root != nil {
		if held, left := List(l.root); len(held) > 0 {
			v.Turn = held[0]
		} else if len(left) > 0 {
			v.Turn = left[0]
		}
	}
	return v
}

// inherited examines the files of this process except those it has opened itself.
func (l *looker) inherited() (string, error) {
	own := heldFiles()
	files, err := l.proc.files(os.Getpid())
	if err != nil {
		return "", err // a process can always read its own files
	}
	for _, f := range files {
		if !own[f.fd] && !f.closing {
			return f.turn, nil
		}
	}
	return "", nil
}

// ancestors walks up to the first process. An error means that the walk got stuck.
func (l *looker) ancestors() (string, error) {
	if l.chain != nil {
		return "", nil
	}
	end := time.Now().Add(lookTime)
	child := os.Getpid()
	at, err := l.proc.stat(child)
	if err != nil {
		return "", err
	}
	seen := map[int]bool{}
	for at.Parent > 0 {
		if time.Now().After(end) || seen[at.Parent] {
			return "", errEndless
		}
		pid := at.Parent
		id, parent, err := l.ancestor(pid, at)
		if id != "" || errors.Is(err, errCovered) {
			return id, err
		}
		// While the child still exists with the same parent, the parent was the same process all along.
		now, again := l.proc.stat(child)
		switch {
		case again != nil || now.Start != at.Start:
			// The child is gone, and its own child has another parent now.
			clear(seen)
			l.chain = l.chain[:0]
			child = os.Getpid()
			if at, err = l.proc.stat(child); err != nil {
				return "", err
			}
			continue
		case now.Parent != pid:
			at = now
			continue
		case err != nil:
			return "", fmt.Errorf("process %d, an ancestor of this one, is hidden (%w)", pid, err)
		}
		seen[pid] = true
		l.chain = append(l.chain, link{
			pid:    pid,
			strict: parent.Session != at.Session,
		})
		child, at = pid, parent
	}
	l.remember()
	return "", nil
}

// ancestor examines one ancestor for marks; child describes the one below it.
func (l *looker) ancestor(pid int, child process.Stat) (string, process.Stat, error) {
	parent, err := l.proc.stat(pid)
	if err != nil {
		return "", parent, err
	}
	// Other users' environments cannot be read; for their processes only the lock tells.
	id, err := l.proc.variable(pid)
	if id != "" || errors.Is(err, errCovered) {
		return id, parent, err
	}
	files, err := l.proc.files(pid)
	if errors.Is(err, errCovered) {
		return "", parent, err
	}
	for _, f := range files {
		// The driver of the turn keeps the file to itself; its agents inherit it. Its other children are in its own
		// session.
		if !f.closing || parent.Session != child.Session {
			return f.turn, parent, nil
		}
	}
	return "", parent, nil
}

// driven determines whether a turn of the project is being carried out by an ancestor, or by a process that cannot
// be seen from here. stuck is why the walk up ended early.
func (l *looker) driven(stuck error) Verdict {
	if l.root == nil {
		return Verdict{}
	}
	if covered(l.root) {
		return l.unsure("something is mounted over " + lockDir)
	}
	held, _ := List(l.root)
	own := heldTurns()
	for _, turn := range held {
		if own[turn] {
			continue // by this very process
		}
		pids := l.proc.drivers(l.root, turn)
		driver := make(map[int]bool, len(pids))
		for _, pid := range pids {
			driver[pid] = true
		}
		for _, a := range l.chain {
			if a.strict && driver[a.pid] {
				return Verdict{Turn: turn}
			}
		}
		switch {
		case driver[os.Getpid()]:
		case stuck != nil:
			return Verdict{Turn: turn, Why: stuck.Error() + " while the turn is carried out"}
		case len(pids) == 0 && !l.proc.firstNamespace():
			return Verdict{
				Turn: turn,
				Why:  "the turn is carried out by a process that cannot be seen in the pid namespace of this one",
			}
		}
	}
	return Verdict{}
}

// Processes lists the living processes that themselves carry a mark of the turn, except this one and its ancestors.
func Processes(turnID string) []int {
	proc, err := openProc()
	if err != nil {
		return nil
	}
	defer proc.close()
	skip := map[int]bool{os.Getpid(): true}
	for s, err := proc.stat(os.Getpid()); err == nil && s.Parent > 1 && !skip[s.Parent]; s, err = proc.stat(s.Parent) {
		skip[s.Parent] = true
	}
	var out []int
	_ = proc.each(func(pid int) bool {
		if skip[pid] || !proc.alive(pid) {
			return true
		}
		id, _ := proc.variable(pid)
		marked := id == turnID
		files, _ := proc.files(pid)
		for _, f := range files {
			marked = marked || f.turn == turnID && !f.closing
		}
		if marked {
			out = append(out, pid)
		}
		return true
	})
	return out
}
