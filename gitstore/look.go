// Look: a View for a reader that must not change a byte in any situation.

package gitstore

import (
	"context"
	"os"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// Look is View for readers that only show a run: an interrupted restore is not completed but reported
// (working_files_behind), because the next command completes it.
func (s *Store) Look(ctx context.Context) (*View, error) {
	if err := s.refuseRestoring(); err != nil {
		return nil, err
	}
	in, err := s.inspect(ctx)
	if err != nil || in.sit == sitExternal {
		err = s.explainJoin(ctx, err)
	}
	if err == nil {
		err = s.refuseTouched(in)
	}
	if err == nil {
		// A restore that began meanwhile may have shown us half of its files.
		err = s.refuseRestoring()
	}
	if err != nil {
		return nil, err
	}
	v, err := s.viewOf(in)
	if err != nil {
		return nil, err
	}
	if n := in.notice(); n != "" && !(in.sit == sitBehind && s.locked()) {
		v.Notices = append(v.Notices, n)
	}
	return v, nil
}

// explainJoin names the join that keeps the working files from following their run, if that is why; otherwise it
// returns err.
func (s *Store) explainJoin(ctx context.Context, err error) error {
	name, tip, jerr := s.leftByJoin(ctx)
	if jerr != nil || name == "" {
		return err
	}
	return fail.Errorf(fail.CodeWorkBehind, nil,
		"run %s was joined with another machine, and the working files are not at operation %s yet", name, tip.Short()).
		WithHint("git agentxchain status, which brings them there")
}

func (s *Store) refuseRestoring() error {
	if _, err := os.Lstat(s.restoreJournalPath()); err != nil {
		return nil
	}
	return fail.Errorf(fail.CodeWorkBehind, nil,
		"a restore is under way or was interrupted, and there is nothing to be seen between two states").
		WithHint("git agentxchain status, which ends an interrupted one")
}
