package agentstream

import "testing"

func TestStep(t *testing.T) {
	for line, want := range map[string]string{
		"make: nothing to do": "make: nothing to do",
		"":                    "",
		"{":                   "{",        // output of an ordinary program
		`{"a": 1}`:            `{"a": 1}`, // an object, but not a record of a stream
		`{"type":"assistant","message":{"content":[{"type":"text","text":"I look. "},{"type":"tool_use","name":"Bash","input":{"command":"make test"}}]}}`: "I look.; Bash: make test",
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":"a.go","content":"x"}}]}}`:                       "Write: a.go",
		`{"type":"item.started","item":{"type":"command_execution","command":"make test"}}`:                                                                "shell: make test",
		`{"type":"item.completed","item":{"type":"command_execution","command":"make test","exit_code":0}}`:                                                "",
		`{"type":"item.completed","item":{"type":"agent_message","text":"It holds."}}`:                                                                     "It holds.",
		`{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a"},{"path":"b"}]}}`:                                                    "edit: a, b",
		`{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls"}}`:                                                                "run_shell_command: ls",
		`{"type":"message","role":"user","content":"secret prompt"}`:                                                                                       "",
		`{"type":"message","role":"assistant","content":"Reading.","delta":true}`:                                                                          "Reading.",
		`{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","input":{"command":"ls -l"}}}}`:                                            "bash: ls -l",
		`{"type":"text","part":{"text":"Done."}}`:                                                                                                          "Done.",
		`{"type":"step_finish","part":{"cost":0}}`:                                                                                                         "",
		`{"type":"tool.execution_start","data":{"toolName":"bash","arguments":{"command":"make test"}}}`:                                                   "bash: make test",
		`{"type":"assistant.message","data":{"content":"It holds.","toolRequests":[]}}`:                                                                    "It holds.",
		`{"type":"assistant.message_delta","data":{"deltaContent":"It"}}`:                                                                                  "",
		`{"type":"result","exitCode":1,"usage":{"premiumRequests":0}}`:                                                                                     "failed",
		`{"type":"system","subtype":"init"}`:                                                                                                               "",
		`{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.434}`:                                                                    "done, $0.43",
		`{"type":"result","is_error":true,"error":{"message":"No auth type is selected."}}`:                                                                "failed: No auth type is selected.",
		`{"type":"result","is_error":true,"result":"Not logged in","total_cost_usd":0}`:                                                                    "failed: Not logged in, $0.00",
		`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: 400]"}}`:                                                       "failed: [API Error: 400]",
		`{"type":"system","subtype":"api_retry","attempt":2,"error":"authentication_failed"}`:                                                              "error: authentication_failed",
		`{"type":"error","message":"Reconnecting... 1/5"}`:                                                                                                 "error: Reconnecting... 1/5",
		`{"type":"turn.failed","error":{"message":"status 401"}}`:                                                                                          "error: status 401",
		`{"type":"error","error":{"name":"APIError","data":{"message":"Unable to connect."}}}`:                                                             "error: Unable to connect.",
		`{"type":"session.error","data":{"errorType":"authentication","message":"HTTP 401."}}`:                                                             "error: HTTP 401.",
		`{"type":"result","is_error":true}`:                                                                                                                "failed",
		// truncated
		`{"type":"assistant","message":{"content":[{"ty`: "",
		`{"type":5,"message":[],"item":"x","part":[]}`:   "",
	} {
		if got, _ := Step(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func FuzzStep(f *testing.F) {
	f.Add(`{"type":"assistant","message":{"content":[{"type":"tool_use","input":5}]}}`)
	f.Fuzz(func(t *testing.T, line string) {
		if text, record := Step(line); !record && text != line {
			t.Errorf("%q became %q", line, text)
		}
	})
}
