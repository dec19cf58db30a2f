// --jq and --template: a part of the --json answer, in the person's format.

package term

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/itchyny/gojq"
)

// Picker writes the requested part of an answer.
type Picker interface {
	pick(ctx context.Context, w io.Writer, answer any) error
}

type jqPicker struct{ query *gojq.Query }

// newJQ reads a jq expression.
func newJQ(expression string) (Picker, error) {
	q, err := gojq.Parse(expression)
	if err != nil {
		return nil, err
	}
	return jqPicker{q}, nil
}

// pick prints each value on a line, strings as they are.
func (p jqPicker) pick(ctx context.Context, w io.Writer, answer any) error {
	values := p.query.RunWithContext(ctx, answer)
	for {
		v, more := values.Next()
		if !more {
			return nil
		}
		if err, failed := v.(error); failed {
			return fmt.Errorf("--jq: %w", err)
		}
		line, isText := v.(string)
		if !isText {
			data, err := gojq.Marshal(v)
			if err != nil {
				return err
			}
			line = string(data)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
}

type templatePicker struct{ t *template.Template }

// newTemplate reads a template of Go's text/template. Besides its own functions it has json, which
// prints a value as JSON, and join, which puts a separator between the items of a list.
func newTemplate(source string) (Picker, error) {
	t, err := template.New("--template").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			data, err := json.Marshal(v)
			return string(data), err
		},
		"join": func(separator string, list []any) string {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			return strings.Join(words, separator)
		},
	}).Parse(source)
	if err != nil {
		return nil, err
	}
	return templatePicker{t}, nil
}

func (p templatePicker) pick(_ context.Context, w io.Writer, answer any) error {
	return p.t.Execute(w, answer)
}

// picked prints the requested part of an answer.
func (o *Output) picked(doc []byte) error {
	var answer any
	if err := json.Unmarshal(doc, &answer); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // an expression may run for ever
		select {
		case <-o.f.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return o.f.Global.Pick.pick(ctx, o.Raw(), answer)
}
