//! Draws and generated problems: what the protocol promises.

use std::collections::BTreeSet;

use datasets::{
    Domain, Draw, DrawKey, DrawSizes, PAIR_CENTRE, TwoMoons, draw, synthetic_benchmark,
};
use ndarray::Array2;

const SIZES: DrawSizes = DrawSizes { source_per_class: 8, labelled_target_per_class: 0 };

fn key(seed: u64, source: &'static str, target: &'static str, trial: u64) -> DrawKey<'static> {
    DrawKey { seed, source, target, trial }
}

fn drawn(sizes: DrawSizes, key: DrawKey<'_>) -> Draw {
    let domains = synthetic_benchmark(1).unwrap();
    draw(&domains[0], &domains[1], sizes, key).unwrap()
}

#[test]
fn a_draw_has_k_samples_of_each_class_and_two_halves_of_the_whole_target() {
    let domains = synthetic_benchmark(1).unwrap();
    let draw = drawn(SIZES, key(1, "S1", "S2", 0));
    let mut per_class = [0; 10];
    for &sample in &draw.source {
        per_class[domains[0].labels()[sample]] += 1;
    }
    assert_eq!(per_class, [8; 10]);
    assert_eq!(draw.source.iter().collect::<BTreeSet<_>>().len(), 80, "no sample twice");
    let target: BTreeSet<usize> = draw.validation.iter().chain(&draw.test).copied().collect();
    assert_eq!(target, (0..400).collect());
    assert_eq!((draw.validation.len(), draw.test.len()), (200, 200));
}

#[test]
fn a_draw_depends_on_seed_pair_and_trial_and_on_nothing_else() {
    let first = drawn(SIZES, key(1, "S1", "S2", 0));
    assert_eq!(first, drawn(SIZES, key(1, "S1", "S2", 0)));
    for other in [key(2, "S1", "S2", 0), key(1, "S2", "S1", 0), key(1, "S1", "S2", 1)] {
        let other = drawn(SIZES, other);
        assert_ne!(first.source, other.source);
        assert_ne!(first.test, other.test);
    }
}

#[test]
fn draws_stay_the_same_from_version_to_version() {
    // Committed results depend on it: a change here is a change of every table.
    let draw = drawn(SIZES, key(1, "S1", "S2", 0));
    assert_eq!(draw.source[..8], FIRST_SOURCE);
    assert_eq!(draw.test[..8], FIRST_TEST);
}
const FIRST_SOURCE: [usize; 8] = [17, 16, 13, 34, 6, 35, 2, 30];
const FIRST_TEST: [usize; 8] = [194, 265, 0, 364, 357, 160, 269, 243];

#[test]
fn labelled_target_samples_leave_the_halves_and_the_source_as_it_was() {
    let domains = synthetic_benchmark(1).unwrap();
    let plain = drawn(SIZES, key(1, "S1", "S2", 0));
    let sizes = DrawSizes { labelled_target_per_class: 3, ..SIZES };
    let draw = drawn(sizes, key(1, "S1", "S2", 0));
    assert_eq!(draw.source, plain.source);
    let mut per_class = [0; 10];
    for &sample in &draw.labelled_target {
        per_class[domains[1].labels()[sample]] += 1;
    }
    assert_eq!(per_class, [3; 10]);
    let all: BTreeSet<usize> =
        draw.validation.iter().chain(&draw.test).chain(&draw.labelled_target).copied().collect();
    assert_eq!(all.len(), 400);
    // What is left of each class is cut in halves, its odd sample for the test.
    let left = domains[1].class_counts().into_iter().map(|count| count - 3);
    let halves: Vec<(usize, usize)> = left.map(|left| (left / 2, left.div_ceil(2))).collect();
    let validation: usize = halves.iter().map(|(validation, _)| validation).sum();
    let test: usize = halves.iter().map(|(_, test)| test).sum();
    assert_eq!((draw.validation.len(), draw.test.len()), (validation, test));
    assert!(validation < test, "some class has an odd rest, or the halves would tell nothing");
}

#[test]
fn each_class_is_cut_in_halves_and_its_odd_sample_goes_to_the_test() {
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let labels = [vec![0; 5], vec![1; 4], vec![2; 1]].concat();
    let target = Domain::new("Y", Array2::ones((10, 1)), labels, names).unwrap();
    let sizes = DrawSizes { source_per_class: 1, labelled_target_per_class: 0 };
    let draw = draw(&target, &target, sizes, key(1, "Y", "Y", 0)).unwrap();
    let of_classes = |half: &[usize]| {
        [0, 1, 2].map(|class| half.iter().filter(|&&i| target.labels()[i] == class).count())
    };
    assert_eq!(of_classes(&draw.validation), [2, 2, 0]);
    assert_eq!(of_classes(&draw.test), [3, 2, 1]);
}

#[test]
fn halves_are_not_in_the_order_of_classes() {
    let domains = synthetic_benchmark(1).unwrap();
    let draw = drawn(SIZES, key(1, "S1", "S2", 0));
    for half in [draw.validation, draw.test] {
        let labels: Vec<usize> = half.iter().map(|&index| domains[1].labels()[index]).collect();
        let same = labels.windows(2).filter(|two| two[0] == two[1]).count();
        assert!(same < labels.len() / 4, "{same} of {} neighbours share a class", labels.len());
    }
}

#[test]
fn moons_have_the_papers_sizes_and_balance() {
    let moons = TwoMoons::default().generate(key(1, "0", "0", 0)).unwrap();
    assert_eq!(moons.source.class_counts(), [150, 150]);
    assert_eq!(moons.target.class_counts(), [150, 150]);
    assert_eq!(moons.test.class_counts(), [500, 500]);
}

#[test]
fn without_noise_the_moons_are_half_circles() {
    let moons = TwoMoons::default().generate(key(1, "0", "0", 0)).unwrap();
    for (point, &moon) in moons.source.features().rows().into_iter().zip(moons.source.labels()) {
        let (centre, side) = if moon == 0 { ([0.0, 0.0], 1.0) } else { ([1.0, 0.5], -1.0) };
        let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
        assert!((x.hypot(y) - 1.0).abs() < 1e-12);
        assert!(y * side >= -1e-12);
    }
}

#[test]
fn a_half_turn_about_the_centre_swaps_the_moons() {
    let moons =
        TwoMoons { angle: 180.0, ..TwoMoons::default() }.generate(key(1, "0", "180", 0)).unwrap();
    for (point, &moon) in moons.target.features().rows().into_iter().zip(moons.target.labels()) {
        let other_centre = if moon == 0 { [1.0, 0.5] } else { [0.0, 0.0] };
        let radius = (point[0] - other_centre[0]).hypot(point[1] - other_centre[1]);
        assert!((radius - 1.0).abs() < 1e-12);
    }
}

#[test]
fn rotation_keeps_the_distance_to_its_centre() {
    let rotated = |angle, centre| {
        TwoMoons { angle, centre, ..TwoMoons::default() }.generate(key(1, "0", "x", 0)).unwrap()
    };
    for centre in [PAIR_CENTRE, [3.0, -1.0]] {
        let (before, after) = (rotated(0.0, centre), rotated(70.0, centre));
        for (p, q) in
            before.target.features().rows().into_iter().zip(after.target.features().rows())
        {
            let radius = |point: ndarray::ArrayView1<'_, f64>| {
                (point[0] - centre[0]).hypot(point[1] - centre[1])
            };
            assert!((radius(p) - radius(q)).abs() < 1e-12);
        }
        assert_eq!(before.source, after.source);
    }
}

#[test]
fn parameters_without_meaning_are_refused_by_name() {
    let message = |moons: TwoMoons| moons.generate(key(1, "0", "0", 0)).unwrap_err().to_string();
    let paper = TwoMoons::default();
    assert!(message(TwoMoons { noise: -0.1, ..paper }).starts_with("noise = -0.1 is not allowed"));
    assert!(message(TwoMoons { angle: f64::NAN, ..paper }).starts_with("angle = NaN"));
    assert!(message(TwoMoons { source_per_class: 0, ..paper }).starts_with("source_per_class = 0"));
    assert!(message(TwoMoons { test_samples: 1, ..paper }).starts_with("test_samples = 1 is"));
    let huge = TwoMoons { target_per_class: usize::MAX, ..paper };
    assert!(message(huge).ends_with("a moon has at most 1000000 samples."));
}
