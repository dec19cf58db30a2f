// Schema version, template and project identity (docs/spec/configuration.md).

package config

import (
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DefaultBranch is the branch of a project that names none.
const DefaultBranch = "main"

const maxGoalLength = 500 // UTF-16 code units after trimming

func (d *decoder) version() {
	v, ok := d.cfg.Raw.Get("schema_version")
	switch v := v.(type) {
	case string:
		if v == "1.0" {
			return
		}
	case ojson.Number:
		if ojson.Equal(v, ojson.Int(4)) {
			return
		}
	}
	if n, found := d.cfg.Raw.Int("version"); found && n == 3 {
		d.legacy = true
		d.add(ProblemLegacyConfig, "version", "3",
			`this is a version 3 configuration, which has no governed runs; schema_version "1.0" is needed: `+
				`move the file away, then git agentxchain init writes one`)
		return
	}
	if !ok {
		d.add(ProblemSchemaVersion, "schema_version", "",
			`schema_version is missing: it must be "1.0" (the number 4 is accepted too)`)
		return
	}
	later := ""
	if laterSchema(v) {
		later = "; a later version of the program may have written it, and that version reads it"
	}
	d.add(ProblemSchemaVersion, "schema_version", valueText(v),
		`schema_version must be "1.0" or the number 4, not %s%s`, ojson.Shown(v), later)
}

// laterSchema reports whether v is a later version than the known ones.
func laterSchema(v any) bool {
	switch v := v.(type) {
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return err == nil && n > 1
	case ojson.Number:
		n, err := strconv.ParseFloat(string(v), 64)
		return err == nil && n > 4
	}
	return false
}

func (d *decoder) project() {
	root := d.section(d.cfg.Raw, "", ProblemTemplate, "template")
	d.cfg.Template = "generic"
	if v, ok := root.value("template"); ok {
		// An empty name has always meant the generic template.
		if t, isText := v.(string); !isText {
			root.fail("template", "a string", v)
		} else if t != "" {
			d.cfg.Template = t
		}
	}
	p := &d.cfg.Project
	p.DefaultBranch = DefaultBranch
	root.code = ProblemProject
	if !root.o.Has("project") {
		root.missing("project", "an object with id and name")
		return
	}
	s := root.object("project", "goal")
	if s.o == nil {
		return
	}
	p.ID = s.text("id", true)
	p.Name = s.text("name", true)
	if b := wire.Trim(s.text("default_branch", false)); b != "" {
		p.DefaultBranch = b
	}
	p.Goal = wire.Trim(s.text("goal", false))
	if n := wire.UTF16Len(p.Goal); n > maxGoalLength {
		d.add(s.code, s.at("goal"), "", "%s must have at most %d characters, not %d", s.at("goal"), maxGoalLength, n)
	}
}
