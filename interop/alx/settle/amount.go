// Amounts of money, read exactly.

package settle

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Limits of one recorded amount. Costs are written by agents.
const (
	maxUSD      = 1_000_000_000 // a larger claim is not an amount
	maxSpelling = 64            // characters
	maxDecimals = 400           // a double has at most 324 zeros before its first digit
)

// amount is digits / 10^decimals US dollars, never negative.
type amount struct {
	digits   *big.Int
	decimals int
}

// readAmount reads a recorded amount: a JSON number, or text that looks like one. ok is false for
// anything but an amount from 0 to maxUSD.
func readAmount(v ojson.Value) (a amount, ok bool) {
	var s string
	switch v := v.(type) {
	case ojson.Number:
		s = string(v)
	case string:
		s = v
	}
	if s == "" || len(s) > maxSpelling {
		return a, false
	}
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		mantissa = s[:i]
		if exponent, err = strconv.Atoi(s[i+1:]); err != nil || exponent < -maxDecimals || exponent > maxDecimals {
			return a, false
		}
	}
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := whole + fraction
	if whole == "" || strings.Trim(digits, "0123456789") != "" {
		return a, false
	}
	a.digits, _ = new(big.Int).SetString(digits, 10)
	if negative && a.digits.Sign() != 0 {
		return a, false
	}
	a.decimals = len(fraction) - exponent
	if a.decimals < 0 {
		a.digits.Mul(a.digits, tenTo(-a.decimals))
		a.decimals = 0
	}
	limit := new(big.Int).Mul(big.NewInt(maxUSD), tenTo(a.decimals))
	return a, a.digits.Cmp(limit) <= 0
}

// at returns the amount in units of 1/10^decimals dollars; decimals must be at least the amount's
// own.
func (a amount) at(decimals int) *big.Int {
	return new(big.Int).Mul(a.digits, tenTo(decimals-a.decimals))
}

// micros converts units of 1/10^decimals dollars to millionths, half up.
func micros(units *big.Int, decimals int) *big.Int {
	if decimals <= 6 {
		return new(big.Int).Mul(units, tenTo(6-decimals))
	}
	unit := tenTo(decimals - 6)
	half := new(big.Int).Rsh(unit, 1)
	return half.Div(half.Add(half, units), unit)
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
