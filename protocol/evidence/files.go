// Files are the project files that a rule reads, supplied by the caller.

package evidence

// FileFact is one project file at the time of the request. Data is nil when the file does not exist or is a
// directory.
type FileFact struct {
	Path   string // project-relative, slash-separated
	Exists bool
	Data   []byte
	Digest string // SHA-256 of Data in hex, "" when unknown
}

// Files is a set of file facts by exact path. A path that the caller did not look at counts as missing, so a
// forgotten file can close a gate but never open one. The nil *Files is empty.
type Files struct {
	facts map[string]FileFact
}

// NewFiles indexes facts; the last fact of a path wins.
func NewFiles(facts []FileFact) *Files {
	f := &Files{facts: make(map[string]FileFact, len(facts))}
	for _, fact := range facts {
		f.facts[fact.Path] = fact
	}
	return f
}

// Exists reports whether the file existed.
func (f *Files) Exists(path string) bool { return f != nil && f.facts[path].Exists }

// Taken reports whether the path was looked at, whether or not it existed.
func (f *Files) Taken(path string) bool {
	if f == nil {
		return false
	}
	_, ok := f.facts[path]
	return ok
}

// Data returns the file's bytes, nil when it did not exist. The caller must not change them.
func (f *Files) Data(path string) []byte {
	if !f.Exists(path) {
		return nil
	}
	return f.facts[path].Data
}

// Digest returns the SHA-256 of the file's bytes in hex, "" when unknown.
func (f *Files) Digest(path string) string {
	if f == nil {
		return ""
	}
	return f.facts[path].Digest
}
