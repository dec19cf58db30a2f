// How commits stand to each other.

package gitstore

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ReadConfig returns the bytes of the project's configuration.
func (s *Store) ReadConfig() ([]byte, error) {
	data, err := s.work.Root.ReadFile(wire.ConfigPath)
	if err != nil {
		return nil, git.Errorf(git.CodeUnreadable, err, "%s cannot be read", wire.ConfigPath)
	}
	return data, nil
}
