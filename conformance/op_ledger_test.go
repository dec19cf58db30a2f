// What the operations on records report for an unusable configuration.

package conformance

import (
	"fmt"
	"testing"
)

func TestSchemaVersionIsReportedAsText(t *testing.T) {
	const fixture = `{"fixture_id":"V","tier":1,"surface":"config_schema","description":"d","type":"reject","setup":{},
		"input":{"operation":"validate_config","args":{"config":{"schema_version":%s}}},
		"expected":{"result":"error","error_type":"schema_version_invalid","expected_version":"1.0","actual_version":%s}}`
	for version, text := range map[string]string{
		`"2.0"`: `"2.0"`, `2`: `"2"`, `2.50`: `"2.5"`, `1.0`: `"1"`, `3e0`: `"3"`, `true`: `"true"`, `""`: `""`,
	} {
		if r := testAdapter().Execute(fmt.Appendf(nil, fixture, version, text)); r.Status != StatusPass {
			t.Errorf("%s: %s", version, r.Message)
		}
	}
}
