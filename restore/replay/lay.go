// Writing the files of an artifact as they are read.

package replay

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

const (
	maxValue = 32 << 20 // of a document in memory
	maxFiles = 200_000
)

type layer struct {
	w    *Workspace
	ctx  context.Context
	root *os.Root
	r    *scan.Reader
	head *ojson.Object // schema_version, export_kind, summary, config of the outer artifact
}

// lay writes the artifact in src below root.
func (w *Workspace) lay(ctx context.Context, src io.Reader, root *os.Root) error {
	in, done, err := restore.Decompress(src)
	if err != nil {
		return unreadable(err)
	}
	defer done()
	l := &layer{w: w, ctx: ctx, root: root, r: scan.New(in, scan.Limits{}), head: &ojson.Object{}}
	if err := root.Mkdir(".agentxchain", 0o700); err != nil {
		return failed(err)
	}
	var children []child
	if err := l.artifact("", l.head, &children); err != nil {
		return err
	}
	w.Kind, w.Schema, w.Exported = l.head.String("export_kind"), l.head.String("schema_version"),
		l.head.String("exported_at")
	summary := l.head.Object("summary")
	if w.Run = summary.String("run_id"); w.Kind == restore.KindCoordinator {
		w.Run = summary.String("super_run_id")
		return l.coordinator(children)
	}
	if !l.has(wire.ConfigPath) {
		return l.document(wire.ConfigPath, l.head.Object("config"))
	}
	return nil
}

func unreadable(err error) error {
	var ours *wire.Error
	if errors.As(err, &ours) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &restore.InputError{Message: "The artifact cannot be read: " + err.Error(), Err: err}
}

// members reads an object member by member.
func (l *layer) members(member func(key string) error) error {
	_, err := l.r.Members(func(key string) error {
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		return member(key)
	})
	switch {
	case err == nil:
		return nil
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	}
	return unreadable(err)
}

// child is a repository of an initiative.
type child struct {
	id, failure string
	ok          bool
	dir         string
}

// artifact writes an artifact's files below dir and keeps the members around them.
func (l *layer) artifact(dir string, head *ojson.Object, children *[]child) error {
	paths := &restore.Paths{}
	return l.members(func(key string) error {
		switch key {
		case "files":
			return l.members(func(name string) error { return l.file(dir, name, paths) })
		case "repos":
			if children == nil {
				return l.r.Skip()
			}
			return l.members(func(id string) error {
				c := child{id: id, ok: true, dir: repoDir(id, len(*children))}
				err := l.child(&c)
				*children = append(*children, c)
				return err
			})
		case "schema_version", "export_kind", "exported_at", "summary", "config":
			v, err := l.r.Value(maxValue)
			head.Set(key, v)
			return err
		}
		return l.r.Skip()
	})
}

func (l *layer) child(c *child) error {
	return l.members(func(key string) error {
		switch key {
		case "export":
			head := &ojson.Object{}
			if err := l.artifact(c.dir, head, nil); err != nil {
				return err
			}
			if name := path.Join(c.dir, wire.ConfigPath); !l.has(name) && head.Object("config") != nil {
				return l.document(name, head.Object("config"))
			}
			return nil
		case "ok", "error":
			v, err := l.r.Value(maxValue)
			switch key {
			case "ok":
				c.ok = v != any(false)
			case "error":
				c.failure, _ = v.(string)
			}
			return err
		}
		return l.r.Skip()
	})
}

// file writes one entry: its bytes if the artifact has them, else its data.
func (l *layer) file(dir, name string, paths *restore.Paths) error {
	if restore.OfThisMachine(name) {
		return l.r.Skip()
	}
	if err := paths.Check(name); err != nil {
		return err
	}
	if l.w.Files++; l.w.Files > maxFiles {
		return &wire.Error{
			Code:    restore.CodeUnsafePath,
			Field:   "files",
			Message: fmt.Sprintf("The artifact has more than %d files, which no run has.", maxFiles),
		}
	}
	to := path.Join(dir, name)
	whole := false
	var data any
	var format string
	err := l.members(func(key string) (err error) {
		switch key {
		case "content_base64":
			kind, kerr := l.r.Kind()
			if kerr != nil || kind != "string" {
				return errors.Join(kerr, l.r.Skip())
			}
			whole = true
			return l.decode(to)
		case "data":
			if whole {
				return l.r.Skip()
			}
			data, err = l.r.Value(maxValue)
			return err
		case "format":
			v, err := l.r.Value(maxValue)
			format, _ = v.(string)
			return err
		}
		return l.r.Skip()
	})
	if err != nil || whole {
		return err
	}
	l.w.Partial = append(l.w.Partial, to)
	return l.told(to, format, data)
}

// told writes the data of a file whose bytes are not in the artifact; nothing if there is none.
func (l *layer) told(to, format string, data any) error {
	var text []byte
	switch v := data.(type) {
	case nil:
		l.w.Files--
		return nil
	case string:
		text = []byte(v)
	case []any:
		if format == "jsonl" {
			for _, row := range v {
				text = append(append(text, ojson.Compact(row)...), '\n')
			}
			break
		}
		text = ojson.Pretty(v)
	default:
		text = ojson.Pretty(v)
	}
	return l.write(to, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// decode writes the base64 text that comes next.
func (l *layer) decode(to string) error {
	return l.write(to, func(w io.Writer) error {
		var left []byte
		out := make([]byte, 0, 64<<10)
		err := l.r.Text(func(piece []byte) error {
			left = append(left, piece...)
			n := len(left) / 4 * 4
			var err error
			out, err = base64.StdEncoding.AppendDecode(out[:0], left[:n])
			left = append(left[:0], left[n:]...)
			if err == nil {
				_, err = w.Write(out)
			}
			return err
		})
		if err == nil && len(left) > 0 {
			err = errors.New("its content is not base64")
		}
		return err
	})
}

// write creates a new file, with its directories.
func (l *layer) write(to string, body func(io.Writer) error) error {
	if i := strings.LastIndexByte(to, '/'); i > 0 {
		if err := l.root.MkdirAll(to[:i], 0o700); err != nil {
			return failed(err)
		}
	}
	f, err := l.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed(err)
	}
	b := bufio.NewWriterSize(f, 64<<10)
	err = body(b)
	if err == nil {
		err = failed(b.Flush())
	}
	if cerr := f.Close(); err == nil {
		err = failed(cerr)
	}
	return err
}

func (l *layer) has(name string) bool { _, err := l.root.Lstat(name); return err == nil }

func (l *layer) document(to string, v *ojson.Object) error {
	return l.write(to, func(w io.Writer) error { _, err := w.Write(ojson.Pretty(v)); return err })
}
