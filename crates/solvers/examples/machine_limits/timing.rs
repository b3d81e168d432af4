//! The time of a loop on a machine that has other things to do as well.

use std::hint::black_box;
use std::time::Instant;

const REPETITIONS: usize = 10;

/// The shortest of several runs: what the machine can do, not what else it did.
pub fn seconds_of_fastest<T>(mut run: impl FnMut() -> T) -> f64 {
    // The first run touches the memory.
    black_box(run());
    (0..REPETITIONS)
        .map(|_| {
            let clock = Instant::now();
            black_box(run());
            clock.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}
