// Package sample has one function for each way in which a code can arise.
package sample

const (
	CodePlain    = "plain"
	CodeDeep     = "deep"
	CodeIface    = "iface"
	CodeUnmade   = "unmade"
	CodeClosure  = "closure"
	CodeCompared = "compared"
	CodeCase     = "case"
	CodeQuiet    = "quiet"
	CodeTable    = "table"
	codeInside   = "inside"
)

type Err struct{ Code string }

type op interface{ apply() *Err }

type made struct{}

func (*made) apply() *Err { return &Err{CodeIface} }

type unmade struct{}

func (*unmade) apply() *Err { return &Err{CodeUnmade} }

var table = map[string]*Err{"x": {Code: CodeTable}}

type T struct{}

func (t *T) Root(s string) *Err {
	if s == CodeCompared {
		return deep()
	}
	switch s {
	case CodeCase:
		return table[s]
	}
	t.quiet()
	do(&made{})
	f := func() *Err { return &Err{CodeClosure} }
	_ = codeInside
	if e := f(); e != nil {
		return e
	}
	return &Err{Code: CodePlain}
}

func (t *T) quiet() *Err { return &Err{CodeQuiet} }

func do(o op) *Err { return o.apply() }

func deep() *Err { return loop(3) }

func loop(n int) *Err {
	if n > 0 {
		return loop(n - 1)
	}
	return &Err{CodeDeep}
}

func Other() *Err { return do(&unmade{}) }
