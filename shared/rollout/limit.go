package rollout

import (
	"errors"
	"math"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// maxTextLength bounds the text of a percentage. It leaves room for more digits than anybody writes
// and keeps the arithmetic on hostile input cheap.
const maxTextLength = 32

var (
	errNegative = errors.New("must not be negative")
	errFormat   = errors.New(`must be an integer or a percentage such as "25%" or "33.3%"`)
	errLength   = errors.New("must be at most 32 characters long")
)

// Validate returns nil if v is a limit that this package obeys: an integer that is not negative, or
// a text of decimal digits, optionally with a fraction, that ends in a percent sign. A text without
// the sign is refused, since "5" could mean either. The error says what is allowed. Source: CS-35,
// CS-36, C-13, C-30.
func Validate(v intstr.IntOrString) error {
	_, err := parse(v)
	return err
}

// rounding is true where a fraction of a pod counts as a whole one.
type rounding bool

const roundUp rounding = true

// limit is a number of pods, or digits/scale percent of replicas.
type limit struct {
	pods    int
	percent bool
	digits  *big.Int
	scale   *big.Int
}

// of returns the limit in pods, 0 to math.MaxInt32.
func (l limit) of(replicas int, r rounding) int {
	if !l.percent {
		return l.pods
	}
	dividend := new(big.Int).Mul(l.digits, big.NewInt(int64(replicas)))
	divisor := new(big.Int).Mul(l.scale, big.NewInt(100))
	quotient, remainder := new(big.Int).QuoRem(dividend, divisor, new(big.Int))
	if r == roundUp && remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	if quotient.Cmp(big.NewInt(math.MaxInt32)) > 0 {
		return math.MaxInt32
	}
	return int(quotient.Int64())
}

func parse(v intstr.IntOrString) (limit, error) {
	if v.Type == intstr.Int {
		if v.IntVal < 0 {
			return limit{}, errNegative
		}
		return limit{pods: int(v.IntVal)}, nil
	}
	return parsePercent(v.StrVal)
}

func parsePercent(text string) (limit, error) {
	if len(text) > maxTextLength {
		return limit{}, errLength
	}
	number, isPercent := strings.CutSuffix(text, "%")
	if !isPercent {
		return limit{}, errFormat
	}
	whole, fraction, hasPoint := strings.Cut(number, ".")
	if !isDigits(whole) || hasPoint && !isDigits(fraction) {
		return limit{}, errFormat
	}
	digits, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return limit{}, errFormat
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	return limit{percent: true, digits: digits, scale: scale}, nil
}

func isDigits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
