// JSON Pointers (RFC 6901): locations in a document.

package ojson

import (
	"strconv"
	"strings"
)

// Member returns the JSON Pointer of the member key of the object at pointer.
func Member(pointer, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	}
	return pointer + "/" + key
}

// Item returns the JSON Pointer of item i of the array at pointer.
func Item(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
