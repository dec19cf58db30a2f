package config

import "testing"

// Every member that changes are judged by can be set by its path: --set knows it.
func TestLayoutHasTheJudgedMembers(t *testing.T) {
	root := layoutTree()
	for section, judged := range map[string]members{
		"rules":  ruleJudges(),
		"gates":  gateJudges(),
		"budget": budgetJudges(),
	} {
		at := root.in[section]
		if section == "gates" {
			at = at.in["*"]
		}
		for name := range judged {
			if at.in[name] == nil {
				t.Errorf("%s.%s is judged when it changes, and the layout does not have it", section, name)
			}
		}
	}
}
