// Verifying file entries: bytes, digest and data against the content (docs/export.md#what-verification-proves).

package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// entry holds what is known about one file entry after reading it.
type entry struct {
	path string
	list []Finding

	isObject              bool
	format, bytes, sha256 any
	truncated, skipped    any
	total, retained       any
	content               any // nil for null, true for a string, absent{}, or something else
	size                  int64
	digest                string
	hashed                <-chan [sha256.Size]byte
	broken                string // problem of the base64
	data                  string // kind of the data, "" if it is missing
	dataLen               int    // number of items in an array
	mismatch              string // problem of data that was compared
	kept                  *spill // data that came before what it is compared with
}

func (e *entry) add(format string, args ...any) {
	e.list = append(e.list, Finding{e.path, fmt.Sprintf(format, args...)})
}

// files reads the files of an artifact.
func (v *verifier) files(a *artifact, repo string, events bool) (err error) {
	a.filesOK, err = v.r.Members(func(path string) error {
		lone := v.r.Lone()
		a.seen(path)
		e, err := v.entry(path, a.collector(path, repo, events))
		if err != nil {
			return err
		}
		if lone {
			e.add("the path contains half of a surrogate pair, which is not a character")
		}
		found := e.judge()
		if len(a.fileFound) < maxFindings {
			a.fileFound = append(a.fileFound, found...)
		}
		if v.want.take != nil && v.wants(repo) {
			var content []byte
			if e.content == true {
				content = v.content
			}
			if err := v.want.take(path, e, content); err != nil {
				return err
			}
		}
		if e.isObject && e.content == nil && (e.truncated == true || e.skipped == true) &&
			len(a.unproven) < maxFindings {
			a.unproven = append(a.unproven, e.path)
		}
		if e.isObject && e.truncated == true && len(a.cut) < maxFindings {
			a.cut = append(a.cut, fmt.Sprintf("%s: all but %s of %s entries", path, show(e.retained), show(e.total)))
		}
		return nil
	})
	return err
}

// seen counts a path for the checks of the summary.
func (a *artifact) seen(path string) {
	a.fileCount++
	switch {
	case strings.HasPrefix(path, ".agentxchain/dispatch/"):
		a.dispatch++
	case strings.HasPrefix(path, ".agentxchain/staging/"):
		a.staging++
	case strings.HasPrefix(path, ".agentxchain/intake/"):
		a.intake = true
	case strings.HasPrefix(path, multiDir+"/"):
		a.multi = true
	case path == wire.LedgerRepoDecisions.Path():
		a.inFiles[path] = true
	}
}

// collector collects what later checks need from the data of one file. Its functions may be nil.
type collector struct {
	array    func()           // the data is an array
	item     func(raw []byte) // one of its items
	document func(raw []byte) // all of the data
}

func (a *artifact) collector(path, repo string, events bool) collector {
	row := func(raw []byte) *ojson.Object {
		o, err := ojson.DecodeLimited(raw, ojson.Limits{Bytes: maxValue, Depth: 256})
		if err != nil {
			return nil
		}
		return objectOf(o)
	}
	rows := collector{array: func() { a.rows[path] = 0 }, item: func([]byte) { a.rows[path]++ }}
	switch path {
	case wire.ConfigPath, statePath, coordinatorFile:
		return collector{document: func(raw []byte) {
			if d, err := sum(raw); err == nil {
				a.sums[path] = d
			}
		}}
	case multiDir + "/state.json", multiDir + "/barriers.json", pidFile, dashboardFile:
		return collector{document: func(raw []byte) {
			if o, err := ojson.DecodeLimited(raw, ojson.Limits{Bytes: maxValue, Depth: 256}); err == nil {
				a.documents[path] = o
			}
		}}
	case wire.LedgerHistory.Path():
		rows.item = func(raw []byte) {
			a.rows[path]++
			if mayDelegate(raw) {
				a.history.add(row(raw))
			}
		}
	case wire.LedgerRepoDecisions.Path():
		rows.item = func(raw []byte) {
			a.rows[path]++
			a.decisions = append(a.decisions, row(raw))
		}
	case wire.LedgerEvents.Path():
		if !events {
			return collector{}
		}
		rows.item = func(raw []byte) {
			o := row(raw)
			if o == nil {
				return
			}
			e := newEvent(repo, o)
			o.Set("repo_id", repo)
			e.digest, _ = sum(ojson.Compact(o))
			a.events = append(a.events, e)
		}
	case wire.LedgerDecisions.Path(), wire.LedgerHookAudit.Path(), wire.LedgerNotifications.Path(),
		multiDir + "/history.jsonl", multiDir + "/decision-ledger.jsonl":
	default:
		return collector{}
	}
	return rows
}

// entry reads one file entry.
func (v *verifier) entry(path string, c collector) (*entry, error) {
	no := absent{}
	e := &entry{
		path:      "files." + path,
		format:    no,
		bytes:     no,
		sha256:    no,
		truncated: no,
		skipped:   no,
		total:     no,
		retained:  no,
		content:   no,
	}
	defer func() {
		if e.kept != nil {
			e.kept.Close()
		}
	}()
	var err error
	e.isObject, err = v.r.Members(func(key string) (err error) {
		switch key {
		case "truncated":
			e.truncated, err = v.r.Value(maxEntryValue)
		case "content_base64_skipped":
			e.skipped, err = v.r.Value(maxEntryValue)
		case "total_entries":
			e.total, err = v.r.Value(maxEntryValue)
		case "retained_entries":
			e.retained, err = v.r.Value(maxEntryValue)
		case "data":
			err = v.data(e, c)
		default:
			err = v.entryMember(e, key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if e.kept != nil {
		err = v.later(e, c)
	}
	if e.hashed != nil { // the content is no longer needed at the next entry
		digest := <-e.hashed
		e.digest = hex.EncodeToString(digest[:])
	}
	return e, err
}

// later reads data that came before the content.
func (v *verifier) later(e *entry, c collector) error {
	src, err := e.kept.reader()
	if err != nil {
		return &scan.ReadError{Err: err}
	}
	outer := v.r
	defer func() { v.r = outer }()
	v.r = scan.New(src, scan.Limits{})
	return v.compare(e, c, e.comparable())
}

// maxEntryValue bounds a member of an entry other than its content.
const maxEntryValue = 1 << 20

// entryMember reads a member that every entry with content has, and skips others.
func (v *verifier) entryMember(e *entry, key string) (err error) {
	switch key {
	case "format":
		e.format, err = v.r.Value(maxEntryValue)
	case "bytes":
		e.bytes, err = v.r.Value(maxEntryValue)
	case "sha256":
		e.sha256, err = v.r.Value(maxEntryValue)
	case "content_base64":
		err = v.base64(e)
	default:
		err = v.r.Skip()
	}
	return err
}

// comparable reports whether the data can be compared with the content.
func (e *entry) comparable() bool {
	return e.content == true && e.broken == "" && knownFormat(e.format)
}

func knownFormat(v any) bool { return v == formatJSON || v == formatJSONL || v == formatText }

// data reads the data of an entry, immediately if everything it is compared with has come before it, as exporters
// write it.
func (v *verifier) data(e *entry, c collector) error {
	_, noFormat := e.format.(absent)
	_, noContent := e.content.(absent)
	if noFormat || noContent {
		e.kept = &spill{max: v.opt.MaxSpill}
		if _, err := v.r.Peek(); err != nil {
			return err
		}
		v.r.Capture(e.kept)
		if err := v.r.Skip(); err != nil {
			return err
		}
		return v.r.Stop()
	}
	return v.compare(e, c, e.comparable())
}

// judge returns the problems of the entry, in the order of docs/export.md#what-verification-proves.
func (e *entry) judge() []Finding {
	if !e.isObject {
		e.add("not a file entry, which is an object")
		return e.list
	}
	if !knownFormat(e.format) {
		e.add("the format must be json, jsonl or text and is %s", show(e.format))
		return e.list
	}
	if !isCount(e.bytes) {
		e.add("bytes must be a count and is %s", show(e.bytes))
	}
	if !isDigest(e.sha256) {
		e.add("sha256 must be 64 lowercase hexadecimal digits and is %s", show(e.sha256))
	}
	switch {
	case e.content == nil:
		e.judgeUnproven()
	case e.content != true:
		e.add("content_base64 must be text, or null in an entry that says why")
	case e.broken != "":
		e.add("content_base64 is not standard base64: %s", e.broken)
	default:
		if n, ok := integer(e.bytes); !ok || n != e.size {
			e.add("bytes says %s, the content has %d", show(e.bytes), e.size)
		}
		if e.sha256 != any(e.digest) {
			e.add("sha256 is not that of the content, which is %s", e.digest)
		}
		switch {
		case e.data == "":
			e.add("the data is missing")
		case e.mismatch != "":
			e.add("%s", e.mismatch)
		}
	}
	return e.list
}

// judgeUnproven judges an entry whose content was left out.
func (e *entry) judgeUnproven() {
	if e.truncated != true && e.skipped != true {
		e.add("the content is left out, and the entry is marked neither as truncated nor as skipped")
		return
	}
	switch e.format {
	case formatText:
		if e.data != "string" {
			e.add("the data of a text must be text")
		}
	case formatJSONL:
		if e.data != "array" {
			e.add("the data of JSON lines must be an array")
		}
		if e.truncated == true {
			e.judgeWindow()
		}
	}
}

func (e *entry) judgeWindow() {
	if !isCount(e.total) {
		e.add("total_entries must be a count where lines were left out")
	}
	if !isCount(e.retained) {
		e.add("retained_entries must be a count where lines were left out")
	}
	if e.data == "array" && !counts(e.retained, e.dataLen) {
		e.add("retained_entries says %s, the data has %d", show(e.retained), e.dataLen)
	}
	total, okT := integer(e.total)
	retained, okR := integer(e.retained)
	if okT && okR && retained > total {
		e.add("more entries are retained than there were")
	}
}

func isDigest(v any) bool {
	s, _ := v.(string)
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
