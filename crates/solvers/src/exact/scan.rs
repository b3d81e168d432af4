//! Kernels over one row of costs plus prices, written in lanes so that the compiler vectorises them.
//! They find minima only; where the minimum lies is looked up when somebody asks.

const LANES: usize = 8;

/// The smallest entry of `costs + prices`.
pub(super) fn minimum(costs: &[f64], prices: &[f64]) -> f64 {
    let (cost_chunks, cost_rest) = costs.as_chunks::<LANES>();
    let (price_chunks, price_rest) = prices.as_chunks::<LANES>();
    let mut least = [f64::INFINITY; LANES];
    for (cost, price) in cost_chunks.iter().zip(price_chunks) {
        for lane in 0..LANES {
            least[lane] = smaller(cost[lane] + price[lane], least[lane]);
        }
    }
    let rest = cost_rest.iter().zip(price_rest).map(|(c, p)| c + p);
    least.into_iter().chain(rest).fold(f64::INFINITY, smaller)
}

/// The smallest and the second smallest entry of `costs + prices`.
pub(super) fn two_minima(costs: &[f64], prices: &[f64]) -> (f64, f64) {
    let (cost_chunks, cost_rest) = costs.as_chunks::<LANES>();
    let (price_chunks, price_rest) = prices.as_chunks::<LANES>();
    let mut least = [f64::INFINITY; LANES];
    let mut second = [f64::INFINITY; LANES];
    for (cost, price) in cost_chunks.iter().zip(price_chunks) {
        for lane in 0..LANES {
            let sum = cost[lane] + price[lane];
            second[lane] = smaller(larger(sum, least[lane]), second[lane]);
            least[lane] = smaller(sum, least[lane]);
        }
    }
    let rest = cost_rest.iter().zip(price_rest).map(|(c, p)| c + p);
    least
        .into_iter()
        .chain(second)
        .chain(rest)
        .fold((f64::INFINITY, f64::INFINITY), |(least, second), sum| {
            (smaller(sum, least), smaller(larger(sum, least), second))
        })
}

/// Where `costs + prices` takes the value that one of the scans returned.
pub(super) fn position_of(value: f64, costs: &[f64], prices: &[f64]) -> Option<usize> {
    let place = |costs: &[f64], prices: &[f64]| {
        let mut sums = costs.iter().zip(prices).map(|(c, p)| c + p);
        sums.position(|sum| sum <= value)
    };
    // Without an early exit inside of a chunk, chunks are compared as vectors.
    let (cost_chunks, _) = costs.as_chunks::<LANES>();
    let (price_chunks, _) = prices.as_chunks::<LANES>();
    let chunk = (cost_chunks.iter().zip(price_chunks)).position(|(cost, price)| {
        let mut found = false;
        for lane in 0..LANES {
            found |= cost[lane] + price[lane] <= value;
        }
        found
    });
    let start = chunk.unwrap_or(cost_chunks.len()) * LANES;
    place(&costs[start..], &prices[start..]).map(|offset| start + offset)
}

// `f64::min` and `f64::max` also look for NaN, which no checked cost is.
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

fn larger(a: f64, b: f64) -> f64 {
    if a < b { b } else { a }
}
