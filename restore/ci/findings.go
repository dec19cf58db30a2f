// Failures in the formats of code scanners: SARIF, and GitLab's code quality.

package ci

import (
	"net/url"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// failures passes each failed case to each, with the rule it breaks.
func failures(suites []Suite, each func(rule string, c Case)) {
	for _, s := range suites {
		for _, c := range s.Cases {
			if c.Outcome == Failed || c.Outcome == Broken {
				each(s.Class, c)
			}
		}
	}
}

// placed returns the file at which to show a finding: scanners require a location.
func placed(c Case) string {
	if c.File == "" {
		return wire.ConfigPath
	}
	return c.File
}

// fingerprint identifies a finding across reports.
func fingerprint(parts ...string) string {
	return wire.SHA256([]byte(strings.Join(parts, "\x00")))
}

// SARIF writes the failures as SARIF 2.1.0.
func SARIF(tool string, suites []Suite) []byte {
	results, rules := []*ojson.Object{}, []*ojson.Object{}
	for _, s := range suites {
		rules = append(rules, ojson.NewObject("id", s.Class, "name", s.Name,
			"shortDescription", ojson.NewObject("text", s.Name)))
	}
	failures(suites, func(rule string, c Case) {
		results = append(results, ojson.NewObject("ruleId", rule, "level", "error",
			"message", ojson.NewObject("text", c.Name+": "+c.Message),
			"locations", []*ojson.Object{ojson.NewObject("physicalLocation", ojson.NewObject(
				"artifactLocation", ojson.NewObject("uri", (&url.URL{Path: placed(c)}).EscapedPath()),
				"region", ojson.NewObject("startLine", 1)))},
			"partialFingerprints", ojson.NewObject("agentxchain/v1", fingerprint(rule, c.Name, c.File))))
	})
	return ojson.Pretty(ojson.NewObject("$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
		"runs", []*ojson.Object{ojson.NewObject(
			"tool", ojson.NewObject("driver", ojson.NewObject("name", tool, "rules", rules)),
			"results", results)}))
}

// GitLab writes the failures as a code quality report.
func GitLab(suites []Suite) []byte {
	list := []*ojson.Object{}
	failures(suites, func(rule string, c Case) {
		list = append(list, ojson.NewObject("description", c.Name+": "+c.Message, "check_name", rule,
			"fingerprint", fingerprint(rule, c.Name, c.File), "severity", "blocker",
			"location", ojson.NewObject("path", placed(c), "lines", ojson.NewObject("begin", 1))))
	})
	return append(ojson.Compact(list), '\n')
}
