// Replacing files in two steps: the data first, the name later.

package durable

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// Pending is a file whose new contents are on disk beside it under a temporary name. Several can be written
// concurrently and then renamed in the order that matters. Publish or Discard it.
type Pending struct {
	name    string
	publish func() error
	discard func()
	close   func()
}

// PrepareRoot writes and syncs the new contents of name below root. No component of name can lead outside root; its
// directory must exist. The temporary file is beside the target, not in the root's top directory, so a crash never
// litters the user's project directory. perm is masked by the umask.
func PrepareRoot(root *os.Root, name string, data []byte, perm fs.FileMode) (*Pending, error) {
	dir, base := filepath.Split(filepath.Clean(name))
	p := &Pending{name: name, close: func() {}}
	sub := root
	if dir != "" {
		r, err := root.OpenRoot(filepath.Clean(dir))
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		sub, p.close = r, func() { _ = r.Close() }
	}
	var err error
	if p.publish, p.discard, err = stage(sub, base, data, perm); err != nil {
		p.close()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return p, nil
}

// Publish renames the contents to their name, replacing an existing file; a symbolic link is replaced, never
// followed. The name is durable only once the directory has been synced.
func (p *Pending) Publish() error {
	if err := p.end(p.publish); err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	faults.Point("durable.write.renamed")
	return nil
}

// Discard removes the temporary file. After Publish it does nothing.
func (p *Pending) Discard() {
	_ = p.end(func() error { p.discard(); return nil })
}

func (p *Pending) end(how func() error) error {
	if p.close == nil {
		return nil
	}
	err := how()
	p.close()
	p.close = nil
	return err
}
