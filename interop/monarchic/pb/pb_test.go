// The generated code matches the .proto beside it.

package pb_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
)

// declared reads "message.field = number" and "enum.VALUE = number" from the .proto, with the label
// and type of each field.
func declared(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("../proto/monarchic_agent_protocol.proto")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := make(map[string]string)
	scope := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(lines.Text()), ";"))
		switch {
		case len(words) == 3 && (words[0] == "message" || words[0] == "enum" || words[0] == "service") &&
			words[2] == "{":
			scope = words[1]
		case len(words) > 0 && words[0] == "}":
			scope = ""
		case scope != "" && len(words) >= 3 && words[len(words)-2] == "=":
			out[scope+"."+words[len(words)-3]] = strings.Join(
				append(words[:len(words)-3:len(words)-3], words[len(words)-1]), " ")
		case scope != "" && len(words) > 1 && words[0] == "rpc":
			name, request, _ := strings.Cut(words[1], "(")
			out[scope+"."+name] = "(" + request + " " + words[3]
		}
	}
	return out
}

func TestGeneratedCodeMatchesTheProto(t *testing.T) {
	t.Parallel()
	want := declared(t)
	pb.Register()
	file := pb.File_monarchic_agent_protocol_proto
	got := make(map[string]string)
	for i := range file.Messages().Len() {
		md := file.Messages().Get(i)
		for j := range md.Fields().Len() {
			fd := md.Fields().Get(j)
			got[string(md.Name())+"."+string(fd.Name())] = label(fd) + kind(fd) + " " + strconv.Itoa(int(fd.Number()))
		}
	}
	for i := range file.Enums().Len() {
		ed := file.Enums().Get(i)
		for j := range ed.Values().Len() {
			v := ed.Values().Get(j)
			got[string(ed.Name())+"."+string(v.Name())] = strconv.Itoa(int(v.Number()))
		}
	}
	service := file.Services().ByName("RunnerControlService")
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		got["RunnerControlService."+string(m.Name())] = "(" + string(m.Input().Name()) + ") (" +
			string(m.Output().Name()) + ")"
	}
	for id, line := range want {
		if got[id] != line {
			t.Errorf("%s is %q in the .proto and %q in the generated code", id, line, got[id])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the .proto declares %d things, the generated code %d", len(want), len(got))
	}
	if service.Methods().Len() != 9 || file.Package() != "monarchic.agent_protocol.v1" {
		t.Errorf("service of %d calls in package %s", service.Methods().Len(), file.Package())
	}
}

func label(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.IsList():
		return "repeated "
	case fd.HasOptionalKeyword():
		return "optional "
	}
	return ""
}

func kind(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.Message() != nil && fd.Message().ParentFile().Package() == "google.protobuf":
		return string(fd.Message().FullName())
	case fd.Message() != nil:
		return string(fd.Message().Name())
	case fd.Enum() != nil:
		return string(fd.Enum().Name())
	}
	return fd.Kind().String()
}
