// The search index of the site: one entry for each heading.

package main

import "encoding/json"

// entry is a searchable part of a page.
type entry struct {
	Page   string `json:"p"`
	Anchor string `json:"a,omitempty"`
	Title  string `json:"t"`
	Text   string `json:"x,omitempty"`
}

// writeSearch writes the entries of all pages. A page loads them when a reader searches.
func (s *site) writeSearch(out string) error {
	var all []entry
	for _, p := range s.pages {
		all = append(all, p.entries...)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return writeFile(out, "search.json", data)
}
