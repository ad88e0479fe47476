//! Curves found from targets: on an oscillator whose answer is known, and on a bar that is let go.

mod common;

use common::{fails, refused, succeeds};
use dashpot::Result;
use dashpot::design::cycle::Cycle;
use dashpot::design::search::search;
use dashpot::design::target::{assign, parse};
use dashpot::design::unload::Unloading;
use dashpot::design::{self, End, Options, Outcome, Remaining, Target, TargetError, Trial, Wish};
use dashpot::scene::{Curve, CurveKind, Example, Over, Shape};
use dashpot::{cpu, scene};
use std::f64::consts::{LN_2, TAU};

/// ω (rad/s) and ξ of the oscillators at γ = 1.
const OMEGA: f64 = 5.0;
const XI: f64 = 0.04;
/// Steps a period: RK4 is off by 1e-8 then, and stable up to γ ξ = 100.
const STEPS: f64 = 600.0;

/// One oscillator an example: ẍ + 2 (ξ (γ_i + Σ c γ_j) + ξ₀) ω ẋ + ω² x = 0, the others' γ acting by the share c.
struct Oscillators {
    coupling: f64,
    /// ξ₀: damping that no γ changes.
    other: f64,
    trials: usize,
}

impl Oscillators {
    /// Without either.
    fn alone() -> Self {
        Oscillators { coupling: 0.0, other: 0.0, trials: 0 }
    }
}

impl Trial for Oscillators {
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining> {
        self.trials += 1;
        let gamma = |k: usize, x: f64, v: f64| match &examples[k].curve {
            Some(curve) if curve.over == Over::Velocity => curve.gamma(v.abs()),
            Some(curve) => curve.gamma(x.abs()),
            None => examples[k].gamma,
        };
        let ratio = |x: f64, v: f64| {
            // the others are at rest
            let others: f64 = (0..examples.len()).filter(|&k| k != example).map(|k| gamma(k, 0.0, 0.0)).sum();
            XI * (gamma(example, x, v) + self.coupling * others) + self.other
        };
        let slope = |[x, v]: [f64; 2]| [v, -OMEGA * OMEGA * x - 2.0 * ratio(x, v) * OMEGA * v];
        let h = TAU / OMEGA / STEPS;
        let mut state = [amplitude, 0.0];
        let mut cycle = Cycle::new(amplitude, STEPS);
        for _ in 0..(5.0 * STEPS) as usize {
            let go = |by: f64, [dx, dv]: [f64; 2]| [state[0] + by * dx, state[1] + by * dv];
            let k1 = slope(state);
            let k2 = slope(go(0.5 * h, k1));
            let k3 = slope(go(0.5 * h, k2));
            let k4 = slope(go(h, k3));
            state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
            if let Some(peak) = cycle.take(state[0]) {
                return Ok(Remaining { amplitude: peak.height, period: Some(peak.time * h) });
            }
        }
        Ok(Remaining { amplitude: 0.0, period: None })
    }

    fn reach(&self, _: usize, over: Over) -> f64 {
        if over == Over::Velocity { OMEGA } else { 1.0 }
    }
}

fn examples(names: &[&str]) -> Vec<Example> {
    let example = |name: &&str| Example {
        name: name.to_string(),
        body: None,
        shape: Shape::default(),
        gamma: 1.0,
        curve: None,
    };
    names.iter().map(example).collect()
}

/// Designs oscillators, one for each name.
fn find(oscillators: &mut Oscillators, names: &[&str], targets: &str) -> (Vec<Example>, Vec<Outcome>) {
    let mut examples = examples(names);
    let targets = assign(&parse(targets).unwrap(), &examples).unwrap();
    let outcomes = search(oscillators, &mut examples, &targets, &Options::default(), &mut |_| {}).unwrap();
    assert_eq!(oscillators.trials, outcomes.iter().map(|outcome| outcome.trials).sum::<usize>());
    (examples, outcomes)
}

/// What remains is within 1 % of what is wanted, also in a test of its own.
fn holds(oscillators: &mut Oscillators, examples: &[Example], outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert_eq!(outcome.end, End::Reached, "{outcome:?}");
        let example = examples.iter().position(|e| e.name == outcome.target.example).unwrap();
        let again = oscillators.remaining(example, outcome.target.amplitude, examples).unwrap();
        let wanted = outcome.target.wish.remaining(outcome.target.amplitude, again.period).unwrap();
        assert!((again.amplitude / wanted - 1.0).abs() < 0.01, "{outcome:?}: {again:?}");
    }
}

/// b/a = exp(−2πζ/√(1 − ζ²)), solved for ζ.
fn ratio_of(remaining: f64) -> f64 {
    let decrement = -remaining.ln();
    decrement / (TAU * TAU + decrement * decrement).sqrt()
}

#[test]
fn a_linear_oscillator_gets_the_gamma_that_theory_says() {
    for remaining in [0.02, 0.1, 0.25, 0.5, 0.78, 0.9, 0.97] {
        for a in [0.3, 1.0, 7.0] {
            let mut oscillator = Oscillators::alone();
            let (_, outcomes) = find(&mut oscillator, &["ear"], &format!("ear: {a} -> {}", a * remaining));
            let [outcome] = &outcomes[..] else { panic!("{outcomes:?}") };
            let gamma = ratio_of(remaining) / XI;
            // 1 % of b is as much of a decrement as of −ln b
            let allowed = 0.0101 / -remaining.ln();
            assert!((outcome.gamma / gamma - 1.0).abs() < allowed, "{remaining}: {} {gamma}", outcome.gamma);
            // the search is made so that it goes straight to the answer here
            assert!(outcome.trials <= 3, "{remaining}: {} trials", outcome.trials);
        }
    }
}

#[test]
fn half_lives_and_ratios_are_what_they_say() {
    let (_, outcomes) = find(&mut Oscillators::alone(), &["ear"], "ear: ratio 0.2");
    // 1 % of what remains after a cycle: 1 % of exp(−2π 0.2) in the exponent
    assert!((outcomes[0].gamma * XI / 0.2 - 1.0).abs() < 0.01 / (TAU * 0.2), "{outcomes:?}");
    let (_, outcomes) = find(&mut Oscillators::alone(), &["ear"], "ear: 2.5 half-life 0.4");
    // e^(−ζωt) = 1/2
    let zeta = LN_2 / (0.4 * OMEGA);
    assert!((outcomes[0].gamma * XI / zeta - 1.0).abs() < 0.01 / (TAU * zeta), "{outcomes:?}");
}

/// Little motion dies at once and large motion does not, or the other way round. (The paper's 0.8 → 0.2, 1.6 → 0.75 no linear spring
/// can do: on its way it is damped by what damps little motion, most where it is fastest. That leaves 0.47 at most.)
#[test]
fn curves_of_several_points_hold_all_of_them() {
    for targets in [
        "ear: 0.8->0.25, 1.6->0.55",
        "ear: 1.6->0.75, 0.8->0.35",
        "ear: 0.8->0.7, 1.6->1.1",
        "ear: 0.2->0.15, 0.5->0.35, 1->0.65, 2->1.2",
    ] {
        let mut oscillator = Oscillators::alone();
        let (examples, outcomes) = find(&mut oscillator, &["ear"], targets);
        holds(&mut oscillator, &examples, &outcomes);
        let curve = examples[0].curve.as_ref().unwrap();
        assert_eq!((curve.kind, curve.over), (CurveKind::Linear, Over::Deformation));
        for (point, outcome) in curve.points.iter().zip(&outcomes) {
            assert_eq!(point[0], outcome.target.amplitude);
            assert!((10f64.powf(point[1]) / outcome.gamma - 1.0).abs() < 1e-12);
            assert!(outcome.trials <= 15, "{outcome:?}");
        }
        assert!(outcomes.windows(2).all(|pair| pair[0].target.amplitude < pair[1].target.amplitude));
    }
}

#[test]
fn curves_over_velocity_stay_curves_over_velocity() {
    let mut examples = examples(&["leaf"]);
    let curve = Curve { kind: CurveKind::Bezier, over: Over::Velocity, points: vec![[0.0, 0.0], [9.0, 0.5]] };
    examples[0].curve = Some(curve);
    let targets = assign(&parse("leaf: 0.8->0.5, 1.6->0.8").unwrap(), &examples).unwrap();
    let mut oscillator = Oscillators::alone();
    let outcomes =
        search(&mut oscillator, &mut examples, &targets, &Options::default(), &mut |_| {}).unwrap();
    holds(&mut oscillator, &examples, &outcomes);
    let curve = examples[0].curve.as_ref().unwrap();
    assert_eq!(curve.over, Over::Velocity);
    assert_eq!(curve.points.iter().map(|point| point[0]).collect::<Vec<_>>(), [0.8 * OMEGA, 1.6 * OMEGA]);
}

#[test]
fn examples_that_feel_each_other_take_turns() {
    let mut oscillators = Oscillators { coupling: 0.3, ..Oscillators::alone() };
    let targets = "ear: 0.8->0.2, 1.6->0.4; belly: 0.8->0.3, 1.6->0.5";
    let (examples, outcomes) = find(&mut oscillators, &["belly", "ear", "tail"], targets);
    holds(&mut oscillators, &examples, &outcomes);
    assert_eq!(examples[2].curve, None, "no target, no curve");
    assert_eq!(outcomes[0].target.example, "belly", "in the order of the scene");
    assert!(outcomes.iter().all(|outcome| outcome.trials <= 15), "{outcomes:?}");
}

/// A design that starts from what it has found needs one look at each target.
#[test]
fn what_holds_is_left_alone() {
    let mut oscillators = Oscillators { coupling: 0.1, ..Oscillators::alone() };
    let list = "ear: 0.8->0.2, 1.6->0.4; belly: 0.8->0.25";
    let (mut examples, _) = find(&mut oscillators, &["ear", "belly"], list);
    let before = examples.clone();
    let targets = assign(&parse(list).unwrap(), &examples).unwrap();
    let again = search(&mut oscillators, &mut examples, &targets, &Options::default(), &mut |_| {}).unwrap();
    assert!(again.iter().all(|outcome| outcome.trials == 1), "{again:?}");
    assert_eq!(examples, before);
}

#[test]
fn what_cannot_be_reached_is_told_with_the_range() {
    // other damping alone leaves exp(−2π ξ₀/√…)
    let mut oscillator = Oscillators { other: 0.1, ..Oscillators::alone() };
    let (_, outcomes) = find(&mut oscillator, &["ear"], "ear: 2->1.9");
    let End::OutOfReach { least, most } = outcomes[0].end else { panic!("{outcomes:?}") };
    let zeta = 0.1 + 1e-3 * XI;
    let exact = 2.0 * (-TAU * zeta / (1.0 - zeta * zeta).sqrt()).exp();
    assert!((most / exact - 1.0).abs() < 1e-4, "{most} {exact}");
    assert_eq!(least, 0.0, "overdamped");
    assert!((outcomes[0].gamma - 1e-3).abs() < 1e-12);
    let complaint = outcomes[0].complaint().unwrap();
    for word in ["`ear: 2->1.9`", "1.9", "0.0000", &format!("{most:.4}")] {
        assert!(complaint.contains(word), "{complaint}");
    }
    // linear springs and the paper's targets
    let (_, outcomes) = find(&mut Oscillators::alone(), &["ear"], "ear: 0.8->0.2, 1.6->0.75");
    let End::OutOfReach { least, most } = outcomes[1].end else { panic!("{outcomes:?}") };
    assert!(0.2 < least && least < 0.3 && 0.45 < most && most < 0.5, "{outcomes:?}");
    // the first point leaves much below 1: however strongly the second damps, it swings on from there
    let (examples, outcomes) = find(&mut Oscillators::alone(), &["ear"], "ear: 1->0.95, 1.05->0.2");
    assert_eq!(outcomes[0].end, End::Reached);
    assert_ne!(outcomes[1].end, End::Reached, "{outcomes:?}");
    assert!(outcomes[1].complaint().unwrap().contains("`ear: 1.05->0.2`"));
    assert_eq!(examples[0].curve.as_ref().unwrap().points.len(), 2);
}

#[test]
fn the_end_of_one_search_does_not_keep_the_others_from_theirs() {
    let mut oscillators = Oscillators { other: 0.1, ..Oscillators::alone() };
    let (examples, outcomes) = find(&mut oscillators, &["ear", "belly"], "ear: 1->0.9; belly: 1->0.3");
    assert!(matches!(outcomes[0].end, End::OutOfReach { .. }), "{outcomes:?}");
    holds(&mut oscillators, &examples, &outcomes[1..]);
}

#[test]
fn targets_are_read_as_they_are_written() {
    let target = |example: &str, amplitude, wish| Target { example: example.into(), amplitude, wish };
    let text = " ear:0.8->0.2,1.6 → 0.75; left:arm : half-life 0.4, 2 half-life 1e-1,3 ratio .05 ; ";
    assert_eq!(
        parse(text).unwrap(),
        [
            target("ear", 0.8, Wish::Remaining(0.2)),
            target("ear", 1.6, Wish::Remaining(0.75)),
            target("left:arm", 1.0, Wish::HalfLife(0.4)),
            target("left:arm", 2.0, Wish::HalfLife(0.1)),
            target("left:arm", 3.0, Wish::Ratio(0.05)),
        ]
    );
    for target in parse(text).unwrap() {
        assert_eq!(parse(&target.to_string()).unwrap(), [target]);
    }
}

#[test]
fn targets_that_are_none_are_told_with_what_was_expected() {
    for (text, words) in [
        ("", &["no target", "ear: 0.8->0.2"][..]),
        (" ; ", &["no target"]),
        ("0.8->0.2", &["`0.8->0.2`", "names no example"]),
        (":0.8->0.2", &["names no example"]),
        ("ear:", &["`` is no target", "half-life"]),
        ("ear: 0.8->0.2,", &["`` is no target"]),
        ("ear: 0.8>0.2", &["`0.8>0.2` is no target", "0.8->0.2"]),
        ("ear: 0.8 halflife 2", &["`0.8 halflife 2` is no target"]),
        ("ear: 0.8->b", &["`0.8->b`", "`b` is no number", "remaining amplitude"]),
        ("ear: ->0.1", &["`` is no number", "initial amplitude"]),
        ("ear: half-life", &["`` is no number", "half-life"]),
        ("ear: -0.8->0.2", &["-0.8 is out of range", "initial amplitude"]),
        ("ear: 0.8->-0.2", &["-0.2 is out of range", "remaining amplitude"]),
        ("ear: 0.8->0", &["0 is out of range", "greater than 0"]),
        ("ear: nan->0.2", &["NaN is out of range"]),
        ("ear: inf->0.2", &["inf is out of range"]),
        ("ear: 0.8->0.8", &["`0.8->0.8`", "less than 0.8"]),
        ("ear: 0.8->1.2", &["`0.8->1.2`", "less than 0.8 to remain, not 1.2"]),
        ("ear: ratio 1", &["1 is out of range", "between 0 and 1"]),
        ("ear: 2 half-life 0", &["0 is out of range", "half-life"]),
    ] {
        let message = parse(text).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(message.contains(word), "`{text}`: no `{word}` in: {message}"));
    }
    let of_scene = |text: &str| assign(&parse(text).unwrap(), &examples(&["ear", "belly"])).unwrap_err();
    let twice = of_scene("ear: 1->0.5, 2->1, 1.0 ratio 0.1");
    assert_eq!(twice, TargetError::Twice { example: "ear".into(), amplitude: 1.0 });
    assert!(of_scene("eer: 1->0.5").to_string().contains("no example `eer`; did you mean `ear`?"));
    assert!(of_scene("nose: 1->0.5").to_string().contains("there are `ear`, `belly`"));
    let none = assign(&parse("ear: 1->0.5").unwrap(), &[]).unwrap_err();
    assert!(none.to_string().contains("[[damping.example]]"));
    let by_hand = [Target { example: "ear".into(), amplitude: 1.0, wish: Wish::Ratio(2.0) }];
    assert!(matches!(assign(&by_hand, &examples(&["ear"])), Err(TargetError::Range { .. })));
}
