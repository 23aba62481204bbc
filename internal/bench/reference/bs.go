package reference

import "math"

// Option holds the parameters that all calls of benchmark B&S share.
type Option struct {
	Rate       float64 // riskless, per year
	Volatility float64 // per square root of a year
	Years      float64 // to expiry
	Strike     float64
}

// BS returns the Black-Scholes price of a European call for each spot price. The CPU version of the benchmark suite
// multiplies the second term by the spot instead of the strike, so it agrees with its GPU version only where the two
// are equal.
func BS(spot []float64, o Option) []float64 {
	price := make([]float64, len(spot))
	for i, s := range spot {
		price[i] = o.call(s, cumulative)
	}
	return price
}

func (o Option) call(spot float64, cumulative func(float64) float64) float64 {
	deviation := o.Volatility * math.Sqrt(o.Years)
	d1 := (math.Log(spot/o.Strike) + (o.Rate+o.Volatility*o.Volatility/2)*o.Years) / deviation
	d2 := d1 - deviation
	return spot*cumulative(d1) - o.Strike*math.Exp(-o.Rate*o.Years)*cumulative(d2)
}

// cumulative returns the normal distribution by formula 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical
// Functions, with an error of at most 7.5e-8. The benchmark prescribes it.
func cumulative(d float64) float64 {
	if d > 0 {
		return 1 - cumulative(-d)
	}
	t := 1 / (1 - 0.2316419*d)
	density := 0.3989422804 * math.Exp(-d*d/2)
	sum, power := 0.0, 1.0
	for _, b := range []float64{0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429} {
		power *= t
		sum += b * power
	}
	return density * sum
}
