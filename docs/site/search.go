// What the search of the site reads: one entry a heading.

package main

import "encoding/json"

// entry is a part of a page that can be found.
type entry struct {
	Page   string `json:"p"`
	Anchor string `json:"a,omitempty"`
	Title  string `json:"t"`
	Text   string `json:"x,omitempty"`
}

// writeSearch writes the entries of all pages. A page asks for them when a reader searches.
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
