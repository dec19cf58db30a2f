// Runs that are over move into the archive while machines travel, and come back from it.

package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// archive moves a run that is over into the archive, takes one out, or deletes the operations of archived runs
// from a machine.
func (j *journey) archive(m *traveller) {
	list, err := archive.ReadAll(j.ctx, m.r.Record().Repository(), archive.ListPrefix)
	j.must(err)
	var in []string
	for run := range list {
		if list.Archived(run) != nil {
			in = append(in, run)
		}
	}
	slices.Sort(in)
	switch what := pickOne(j.d, "archive", "archive", "archive", "unarchive", "prune"); what {
	case "archive":
		tips, err := m.r.Record().RunTips(j.ctx, 0)
		j.must(err)
		var over []string
		for _, t := range tips {
			if st, err := chain.StateAt(j.ctx, m.r.Record().Repository(), t.Ref.OID); err == nil && st.Status.Ended() {
				over = append(over, t.Run)
			}
		}
		if len(over) == 0 {
			return
		}
		run := pickOne(j.d, over...)
		_, err = m.r.ArchiveRuns(j.ctx, runner.ArchiveOptions{Runs: []string{run}})
		j.answer(m, what, err)
		j.log(m, "    %s", run)
	case "unarchive":
		if len(in) == 0 {
			return
		}
		run := pickOne(j.d, in...)
		_, err := m.r.UnarchiveRuns(j.ctx, []string{run})
		j.answer(m, what, err)
		j.log(m, "    %s", run)
	case "prune":
		done, err := m.r.PruneRuns(j.ctx, runner.PruneOptions{Before: time.Now().Add(24 * time.Hour)})
		j.answer(m, what, err)
		if err == nil {
			j.log(m, "    %d go, %d stay", len(done.Pruned), len(done.Kept))
		}
	}
}

// archived returns the entries of the runs that a repository lists as archived, and all lines of its lists.
func (j *journey) archived(dir string) (map[string]*ojson.Object, string) {
	out, all := make(map[string]*ojson.Object), ""
	for ref := range strings.FieldsSeq(j.git(dir, "for-each-ref", "--format=%(refname)", archive.ListPrefix)) {
		text := j.git(dir, "show", ref+":runs.jsonl")
		all += ref + "\n" + text + "\n"
		for line := range strings.Lines(text) {
			row, err := ojson.DecodeObject([]byte(line))
			j.must(err)
			if row.String("state") == archive.Archived {
				out[row.String("run_id")] = row
			}
		}
	}
	return out, all
}

// records returns the runs and conflicts of a repository, and its archive. An archived run may still have its
// ref where a work tree is in it.
func (j *journey) records(dir string) string {
	in, list := j.archived(dir)
	refs := j.git(dir, "for-each-ref", "--format=%(objectname) %(refname)", git.RunRefPrefix, record.ConflictRefPrefix)
	var out []string
	for line := range strings.Lines(refs) {
		line = strings.TrimSpace(line)
		op, name, _ := strings.Cut(line, " "+git.RunRefPrefix)
		if e := in[name]; e == nil || e.String("op") != op {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n" + list
}

// tips returns the newest operation of each run on the server, live and archived.
func (j *journey) tips() []string {
	in, _ := j.archived(j.server())
	var out []string
	for line := range strings.Lines(
		j.git(j.server(), "for-each-ref", "--format=%(objectname) %(refname)", git.RunRefPrefix)) {
		op, name, _ := strings.Cut(strings.TrimSpace(line), " "+git.RunRefPrefix)
		delete(in, name)
		out = append(out, op)
	}
	for _, e := range in {
		out = append(out, e.String("op"))
	}
	return out
}

// keptByServer compares the list of the server with what it keeps: each archived run has its operations there,
// and no ref of its own.
func (j *journey) keptByServer() {
	in, _ := j.archived(j.server())
	for run, e := range in {
		year, _, _ := strings.Cut(e.String("ended_at"), "-")
		j.git(j.server(), "merge-base", "--is-ancestor", e.String("op"), archive.KeepPrefix+year)
		ref := git.RunRefPrefix + run
		if at := j.git(j.server(), "for-each-ref", "--format=%(objectname)", ref); at == e.String("op") {
			j.fail("the server has %s as a run, and in its archive", run)
		}
		j.did["archived at the end"]++
	}
	for _, m := range j.machines {
		for run := range in { // what is missing here is fetched
			if _, err := m.r.Record().Log(j.ctx, run, 1); err != nil {
				j.fail("%s: archived run %s: %v", m.name, run, err)
			}
		}
	}
	j.trace = append(j.trace, fmt.Sprintf("%d runs are archived", len(in)))
}
