//! Curves found from targets: on an oscillator whose answer is known, and on a bar that is let go.

use crate::common::{fails, refused, succeeds};
use dashpot::Result;
use dashpot::design::cycle::Cycle;
use dashpot::design::search::search;
use dashpot::design::sweep;
use dashpot::design::target::{assign, parse};
use dashpot::design::unload::Unloading;
use dashpot::design::{self, DecayGoal, End, Options, Outcome, Remaining, Target, TargetError, Trial};
use dashpot::scene::{Curve, CurveKind, Example, Over, Shape};
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3, cpu};
use std::f64::consts::{LN_2, TAU};
use std::sync::Arc;

/// ω (rad/s) and ξ of the oscillators at γ = 1.
const OMEGA: f64 = 5.0;
const XI: f64 = 0.04;
/// Steps a period: RK4 is off by 1e-8 then, and stable up to γ ξ = 100.
const STEPS: f64 = 600.0;

/// One oscillator an example: ẍ + 2 (ξ (γ_i + Σ c γ_j) + ξ₀) ω ẋ + ω² (x + κ x³) = 0, the others' γ acting by the share c.
struct Oscillators {
    coupling: f64,
    /// ξ₀: damping that no γ changes.
    other: f64,
    /// κ: how much it hardens.
    hardening: f64,
    trials: usize,
}

impl Oscillators {
    /// Without either.
    fn alone() -> Self {
        Oscillators { coupling: 0.0, other: 0.0, hardening: 0.0, trials: 0 }
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
        let force = |x: f64| OMEGA * OMEGA * (x + self.hardening * x.powi(3));
        let slope = |[x, v]: [f64; 2]| [v, -force(x) - 2.0 * ratio(x, v) * OMEGA * v];
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

/// The paper's four targets: no linear spring can do them. On its way it is damped by what damps little motion, most where it is
/// fastest; that leaves 0.467 of 1.6 where 0.2 is left of 0.8, and 0.581 where it is 0.25. A spring that hardens has more energy at
/// 1.6 than four times that at 0.8, and swings back to where it has what is left: with κ = 1, 6.9 times as much, all four are met.
#[test]
fn a_spring_that_hardens_meets_the_targets_of_the_paper_and_a_linear_one_cannot() {
    let paper = [("ear: 0.8->0.2, 1.6->0.75", 0.467), ("ear: 0.8->0.25, 1.6->0.65", 0.581)];
    for (targets, bound) in paper {
        let (_, outcomes) = find(&mut Oscillators::alone(), &["ear"], targets);
        let End::OutOfReach { most, .. } = outcomes[1].end else { panic!("{outcomes:?}") };
        // 1 % of the first target is as much of this one
        assert!((most / bound - 1.0).abs() < 0.01 && outcomes[1].rise.is_none(), "{most} {outcomes:?}");
        let mut hard = Oscillators { hardening: 1.0, ..Oscillators::alone() };
        let (examples, outcomes) = find(&mut hard, &["ear"], targets);
        holds(&mut hard, &examples, &outcomes);
        // as many as the paper needs, or fewer
        assert!(outcomes.iter().all(|outcome| outcome.trials <= 10), "{outcomes:?}");
    }
}

/// b(γ) as a formula of log₁₀ γ, the same share of every amplitude.
struct Formula(fn(f64) -> f64);

impl Trial for Formula {
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining> {
        let gamma = examples[example].curve.as_ref().map_or(1.0, |curve| curve.gamma(amplitude));
        Ok(Remaining { amplitude: amplitude * (self.0)(gamma.log10()), period: Some(1.0) })
    }
}

#[test]
fn what_is_not_monotone_or_jumps_is_told_so() {
    let outcome = |formula: fn(f64) -> f64, targets: &str| {
        let mut examples = examples(&["ear"]);
        let targets = assign(&parse(targets).unwrap(), &examples).unwrap();
        let options = Options { trials: 40, ..Options::default() };
        search(&mut Formula(formula), &mut examples, &targets, &options, &mut |_| {}).unwrap().remove(0)
    };
    // rises up to γ = 0.3 by 7 %, then falls: more is seen on the way than at the end of the range
    let hill =
        |log: f64| if log < -0.5 { 0.7 + 0.02 * (log + 3.0) } else { 0.75 * 10f64.powf(-0.6 * (log + 0.5)) };
    let missed = outcome(hill, "ear: 1->0.9");
    let rise = missed.rise.expect("it rises");
    assert!(rise.from[1] < rise.to[1] && rise.from[0] < rise.to[0], "{rise:?}");
    let End::OutOfReach { least, most } = missed.end else { panic!("{missed:?}") };
    assert!(least < 0.05 && most >= rise.to[1] && most >= missed.reached, "{missed:?}");
    let complaint = missed.complaint().unwrap();
    assert!(complaint.contains("not monotone") && !complaint.contains("out of reach"), "{complaint}");
    // where it falls, the range is one
    let falls = |log: f64| 0.7 / (1.0 + 10f64.powf(log));
    let missed = outcome(falls, "ear: 1->0.9");
    assert_eq!(missed.rise, None);
    assert!(missed.complaint().unwrap().contains("out of reach"), "{missed:?}");
    // more than at the end of the range, a decade inside it
    let bump = |log: f64| 0.7 / (1.0 + 10f64.powf(log)) + 0.1 * (-((log + 2.0) / 0.3).powi(2)).exp();
    let met = outcome(bump, "ear: 1->0.75");
    assert!(met.end == End::Reached && (met.reached / 0.75 - 1.0).abs() < 0.01, "{met:?}");
    let step = |log: f64| if log < 0.3 { 0.8 } else { 0.3 };
    let missed = outcome(step, "ear: 1->0.5");
    assert_eq!(missed.end, End::Jump { below: 0.3, above: 0.8 }, "{missed:?}");
    let complaint = missed.complaint().unwrap();
    assert!(complaint.contains("jumps from 0.8000 to 0.3000 at γ = 1.99"), "{complaint}");
}

/// Little motion dies at once and large motion does not, or the other way round.
#[test]
fn curves_of_several_points_hold_all_of_them() {
    for targets in [
        "ear: 0.8->0.25, 1.6->0.55",
        "ear: 1.6->0.75, 0.8->0.35",
        "ear: 0.8->0.7, 1.6->1.1",
        "ear: 0.2->0.15, 0.5->0.35, 1->0.65, 2->1.3",
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
            target("ear", 0.8, DecayGoal::Remaining(0.2)),
            target("ear", 1.6, DecayGoal::Remaining(0.75)),
            target("left:arm", 1.0, DecayGoal::HalfLife(0.4)),
            target("left:arm", 2.0, DecayGoal::HalfLife(0.1)),
            target("left:arm", 3.0, DecayGoal::Ratio(0.05)),
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
        ("ear:", &["`` is not a target", "half-life"]),
        ("ear: 0.8->0.2,", &["`` is not a target"]),
        ("ear: 0.8>0.2", &["`0.8>0.2` is not a target", "0.8->0.2"]),
        ("ear: 0.8 halflife 2", &["`0.8 halflife 2` is not a target"]),
        ("ear: 0.8->b", &["`0.8->b`", "`b` is not a number", "remaining amplitude"]),
        ("ear: ->0.1", &["`` is not a number", "initial amplitude"]),
        ("ear: half-life", &["`` is not a number", "half-life"]),
        ("ear: -0.8->0.2", &["-0.8 is out of range", "initial amplitude"]),
        ("ear: 0.8->-0.2", &["-0.2 is out of range", "remaining amplitude"]),
        ("ear: 0.8->0", &["0 is out of range", "greater than 0"]),
        ("ear: nan->0.2", &["NaN is out of range"]),
        ("ear: inf->0.2", &["inf is out of range"]),
        ("ear: 0.8->0.8", &["`0.8->0.8`", "less than 0.8"]),
        ("ear: 0.8->1.2", &["`0.8->1.2`", "less than 0.8 to remain, not 1.2"]),
        ("ear: ratio 1", &["1 is out of range", "between 0 and 0.65"]),
        ("ear: 2 half-life 0", &["0 is out of range", "half-life"]),
        ("ear: 0.8->0.001", &["`0.8->0.001`", "0.2 %", "at least 0.0016 to remain, not 0.001"]),
    ] {
        let message = parse(text).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(message.contains(word), "`{text}`: no `{word}` in: {message}"));
    }
    let of_scene = |text: &str| assign(&parse(text).unwrap(), &examples(&["ear", "belly"])).unwrap_err();
    let twice = of_scene("ear: 1->0.5, 2->1, 1.0 ratio 0.1");
    assert_eq!(twice, TargetError::Twice { example: "ear".into(), amplitude: 1.0 });
    assert!(of_scene("eer: 1->0.5").to_string().contains("no example `eer`; did you mean `ear`?"));
    assert!(of_scene("nose: 1->0.5").to_string().contains("the examples are `ear`, `belly`"));
    let none = assign(&parse("ear: 1->0.5").unwrap(), &[]).unwrap_err();
    assert!(none.to_string().contains("[[damping.example]]"));
    let by_hand = [Target { example: "ear".into(), amplitude: 1.0, wish: DecayGoal::Ratio(2.0) }];
    assert!(matches!(assign(&by_hand, &examples(&["ear"])), Err(TargetError::Range { .. })));
}

/// A bar that bends up and down and from side to side, 300 tetrahedra, with damping that would leave nearly all of either.
const BAR: &str = r#"
    time = { step = 0.01, frames = 10, iterations = 10 }
    integrator = { kind = "bathe" }
    [damping]
    model = "laplacian"
    stiffness = 2e-5
    [[damping.example]]
    name = "up"
    shape = { mode = 1 }
    [[damping.example]]
    name = "aside"
    shape = { pull = [0.0, 0.0, 4.0], select = { min = [0.599, -1.0, -1.0], max = [0.601, 1.0, 1.0] } }
    [[obstacle]]
    shape = "plane"
    point = [0.0, -0.2, 0.0]
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [12, 1, 2], size = [0.6, 0.06, 0.09] }
    material = { model = "corotated", young_modulus = 1e6, poisson_ratio = 0.3, density = 1000.0 }
    rotation = { axis = [1.0, 2.0, 0.0], degrees = 40.0 }
    velocity = [0.0, 1.0, 0.0]
    [[body.attach]]
    select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }
    stiffness = 1e5
    path = { kind = "translate", velocity = [1.0, 0.0, 0.0] }
    [[body.attach]]
    select = { min = [0.599, -1.0, -1.0], max = [0.601, 1.0, 1.0] }
    until = 0.3
"#;

/// What turns the scene into one in which nothing but the bar moves.
const STILL: [&str; 4] = [
    "gravity=[0,0,0]",
    "obstacle=[]",
    "body.0.velocity=[0,0,0]",
    "body.0.attach=[{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e5 }]",
];

/// What remains of an excitation after a cycle, as a share, by a simulation that starts deformed: the highest value after the
/// second change of sign.
fn unloaded(file: &str, example: usize, amplitude: f64) -> f64 {
    let loaded = setup::load(file, &STILL.map(String::from)).unwrap();
    let model = build(&loaded).unwrap().model;
    let turn = loaded.scene.bodies[0].rotation.matrix();
    let begin = |share: f64| {
        let mut model = model.clone();
        let shape = model.examples[example].displacement.clone();
        model.initial_positions.iter_mut().zip(&shape).for_each(|(x, u)| *x += turn * u * share);
        model.initial_velocities.fill(Vec3::zeros());
        let model = Arc::new(model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
        Simulation::new(&loaded.scene, model, backend).unwrap()
    };
    // what holds the bar gives way a little to the shape, and χ is seen from there: not quite so many times the shape
    let share = amplitude * amplitude / begin(amplitude).excitations().unwrap()[example];
    let mut simulation = begin(share);
    let start = simulation.excitations().unwrap()[example];
    assert!((start / amplitude - 1.0).abs() < 0.01, "{start}");
    let (mut changes, mut before, mut highest) = (0, start, 0.0);
    for _ in 0..400 {
        simulation.frame().unwrap();
        let chi = simulation.excitations().unwrap()[example];
        changes += usize::from(chi * before < 0.0);
        before = chi;
        match changes {
            2 => highest = f64::max(highest, chi),
            3 => return highest / start,
            _ => {}
        }
    }
    panic!("no cycle")
}

#[test]
fn the_scene_that_is_written_does_what_was_wished() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bar.toml"), BAR).unwrap();
    let targets = ["--target", "up: 0.5->0.25, 1->0.45", "--target", "aside: ratio 0.1"];
    let said = succeeds(folder.path(), &[&["design", "bar.toml", "--backend", "cpu"], &targets[..]].concat());
    for word in ["example", "wanted", "trials", "`up`", "curve = {", "bar-designed.toml"] {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
    let file = folder.path().join("bar-designed.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    let scene = setup::load_text("there", &written, &[]).unwrap().scene;
    let given = setup::load_text("here", BAR, &[]).unwrap().scene;
    let mut same = scene.clone();
    same.damping.examples.clone_from(&given.damping.examples);
    assert_eq!(same, given, "nothing but the curves has changed");
    let file = file.to_str().unwrap();
    let ratio = (-TAU * 0.1 / (1.0f64 - 0.01).sqrt()).exp();
    for (example, amplitude, wanted) in [(0, 0.5, 0.5), (0, 1.0, 0.45), (1, 1.0, ratio)] {
        let reached = unloaded(file, example, amplitude);
        // 1 %, and what the highest of fifty samples a cycle may be off: 1 − cos(π/50)
        assert!((reached / wanted - 1.0).abs() < 0.012, "{example} {amplitude}: {reached} {wanted}");
    }
    // once more from there: nothing is left to do
    let again = ["design", "bar-designed.toml", "--backend", "cpu", "--out", "again.toml"];
    succeeds(folder.path(), &[&again[..], &targets].concat());
    let again = std::fs::read_to_string(folder.path().join("again.toml")).unwrap();
    assert_eq!(setup::load_text("there", &again, &[]).unwrap().scene, scene);
}

#[test]
fn what_remains_falls_as_gamma_grows_and_is_printed() {
    let loaded = setup::load_text("bar.toml", BAR, &[]).unwrap();
    let asked = sweep::parse("up: 0.5, 1; aside: 1").unwrap();
    let gammas = [0.01, 1.0, 30.0, 1000.0];
    let mut told = 0;
    let sweeps = sweep::sweep(
        &loaded,
        &asked,
        &gammas,
        &|loaded, model| cpu::backend(model, &loaded.scene.solver),
        &mut |made, all| {
            told += 1;
            assert!(made == told && all == 12);
        },
    );
    let sweeps = sweeps.unwrap();
    assert!(sweeps.iter().map(|sweep| (sweep.example.as_str(), sweep.amplitude)).eq([
        ("up", 0.5),
        ("up", 1.0),
        ("aside", 1.0)
    ]));
    for sweep in &sweeps {
        assert_eq!(sweep.rise(), None, "{sweep:?}");
        let remaining: Vec<f64> = sweep.samples.iter().map(|sample| sample.1.amplitude).collect();
        assert!(remaining[0] < sweep.amplitude && remaining[3] == 0.0, "overdamped: {sweep:?}");
        // once it is overdamped nothing is left to fall
        assert!(remaining.windows(2).all(|pair| pair[1] < pair[0] || pair[0] == 0.0), "{sweep:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("bar.toml"), BAR).unwrap();
    let command = ["design", "bar.toml", "--backend", "cpu", "--sweep", "up: 1", "--per-decade", "1"];
    let said = succeeds(at, &[&command[..], &["--out", "b.csv"]].concat());
    // 2 % more at γ = 0.1 than at 0.001: the paper's "monotone" does not hold of every body
    assert!(said.contains("up from 1: not monotone"), "{said}");
    let csv = std::fs::read_to_string(at.join("b.csv")).unwrap();
    assert!(csv.starts_with("gamma,up from 1\n0.001,") && csv.lines().count() == 8, "{csv}");
    refused(at, &[&command[..], &["--out", "b.toml"]].concat(), &["--out", ".csv"]);
    refused(at, &["design", "bar.toml", "--sweep", "upp: 1"], &["`upp`", "did you mean `up`?"]);
    refused(at, &["design", "bar.toml", "--sweep", "up: 0"], &["--sweep", "0 is out of range"]);
}

#[test]
fn one_simulation_is_let_go_again_and_again_to_the_same_bits() {
    let loaded = setup::load_text("bar.toml", BAR, &[]).unwrap();
    let make =
        || Unloading::new(&loaded, &|loaded, model| cpu::backend(model, &loaded.scene.solver)).unwrap();
    let examples = &loaded.scene.damping.examples;
    let mut other = examples.clone();
    other[0].gamma = 30.0;
    let mut used = make();
    let first = used.signal(0, 1.0, examples).unwrap();
    let damped = used.signal(0, 1.0, &other).unwrap();
    used.signal(1, 0.5, &other).unwrap();
    assert_eq!(used.signal(0, 1.0, examples).unwrap(), first);
    assert!(damped.1.amplitude < 0.9 * first.1.amplitude, "{damped:?}");
    assert_eq!(make().signal(0, 1.0, &other).unwrap(), damped);
    // at rest at the start, with the excitation asked for, and nothing but damping takes from it
    assert!((first.0[0] - 1.0).abs() < 1e-5 && (first.0[1] - 1.0).abs() < 0.1);
    assert!(first.1.amplitude > 0.6 && first.1.amplitude <= 1.0, "{:?}", first.1);
}

#[test]
fn wishes_that_cannot_be_are_refused_or_told_and_what_was_found_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("bar.toml"), BAR).unwrap();
    let design = |more: &[&'static str]| [&["design", "bar.toml", "--backend", "cpu"][..], more].concat();
    refused(at, &design(&[]), &["--target"]);
    refused(at, &design(&["--target", "up: 1=>0.5"]), &["--target", "`1=>0.5` is not a target"]);
    refused(at, &design(&["--target", "upp: 1->0.5"]), &["--target", "`upp`", "did you mean `up`?"]);
    refused(
        at,
        &design(&["--target", "up: 1->0.5", "--target", "up: 1->0.4"]),
        &["two targets at amplitude 1"],
    );
    refused(at, &design(&["--target", "up: 1->0.5", "--out", "bar.toml"]), &["--out", "is the input scene"]);
    refused(
        at,
        &design(&["--target", "up: 1->0.5", "--set", "time.step=0.2"]),
        &["time.step", "period", "`up`"],
    );
    std::fs::write(at.join("bar-designed.toml"), "mine").unwrap();
    refused(at, &design(&["--target", "up: 1->0.5"]), &["bar-designed.toml", "already exists"]);
    assert_eq!(std::fs::read_to_string(at.join("bar-designed.toml")).unwrap(), "mine");
    let impossible = [
        "--target",
        "up: 1->0.9999999; aside: 1->0.5",
        "--out",
        "kept.toml",
        "--set",
        "integrator.kind=backward-euler",
    ];
    fails(at, &design(&impossible), 1, &["some targets were not met", "`up: 1->0.9999999`", "γ = 0.001"]);
    let kept = setup::load(at.join("kept.toml").to_str().unwrap(), &[]).unwrap().scene;
    assert!(kept.damping.examples.iter().all(|example| example.curve.is_some()));
}

#[test]
fn a_library_user_is_told_of_every_test() {
    let loaded = setup::load_text("bar.toml", BAR, &[]).unwrap();
    let mut told = Vec::new();
    let targets = parse("up: 1->0.5").unwrap();
    let designed = design::design(&loaded, &targets, &Options::default(), &mut |progress| {
        told.push((progress.trials, progress.gamma, progress.holds));
    });
    let designed = designed.unwrap();
    designed.check().unwrap();
    let outcome = &designed.outcomes[0];
    assert_eq!(told.len(), outcome.trials);
    assert_eq!(told.last().unwrap().1, outcome.gamma);
    assert!(told.iter().map(|told| told.0).eq(1..=told.len()) && told.last().unwrap().2);
    let loaded_without = setup::load_text("bar.toml", BAR, &["damping.example=[]".into()]).unwrap();
    let error = design::design(&loaded_without, &targets, &Options::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("no [[damping.example]]"), "{error}");
}

/// Of motion that is hardly damped nearly all remains after a cycle: 1 % of that is many times the half-life.
#[test]
fn half_lives_hold_themselves_where_nearly_all_remains() {
    for half_life in [2.0, 20.0, 100.0] {
        let (_, outcomes) = find(&mut Oscillators::alone(), &["ear"], &format!("ear: half-life {half_life}"));
        let Outcome { reached, period, end, .. } = outcomes[0];
        assert_eq!(end, End::Reached, "{outcomes:?}");
        let is = period.unwrap() / (1.0 / reached).log2();
        assert!((is / half_life - 1.0).abs() <= 0.01, "{is} instead of {half_life}");
    }
}

#[test]
fn half_lives_too_short_to_be_seen_are_refused_and_time_is_told_if_asked_for() {
    let loaded = setup::load_text("bar.toml", BAR, &[]).unwrap();
    let fast = parse("up: half-life 1e-3").unwrap();
    let error = design::design(&loaded, &fast, &Options::default(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("up: 1 half-life 0.001") && error.contains("expected a half-life of"), "{error}");
    let mut times = Vec::new();
    let options = Options { reports_time: true, trials: 1, rounds: 1, ..Options::default() };
    let found = design::design(&loaded, &parse("up: 1->0.5").unwrap(), &options, &mut |progress| {
        times.push(progress.time);
    });
    assert!(found.is_ok());
    assert_eq!(times.first(), Some(&Some(0.0)));
    assert!(times.len() > 2 && times.last() == Some(&None), "{times:?}");
    assert!(times.iter().flatten().is_sorted(), "{times:?}");
}

/// What is wrong with a shape is known only when a simulation is made, or makes its first step; its place is told all the same.
#[test]
fn shapes_that_cannot_be_damped_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let body = "[[body]]\nmesh = { generate = \"box\", cells = [4, 1, 1], size = [0.4, 0.1, 0.1] }\n\
                material = { model = \"corotated\", young_modulus = 1e5, poisson_ratio = 0.3 }\n";
    let write = |names: [&str; 2], shapes: [&str; 2]| {
        let example =
            |k: usize| format!("[[damping.example]]\nname = \"{}\"\nshape = {{ {} }}\n", names[k], shapes[k]);
        let damping = "time = { step = 0.01 }\n[damping]\nmodel = \"laplacian\"\nstiffness = 1e-4\nfollow_rotation = false\n";
        std::fs::write(path.join("s.toml"), format!("{damping}{}{}{body}", example(0), example(1))).unwrap();
    };
    let run = ["run", "s.toml", "--frames", "2", "--backend", "cpu"];
    write(["a", "b"], ["mode = 1", "mode = 1, size = 0.01"]);
    for command in [&run[..], &["design", "s.toml", "--target", "a: 1->0.5"]] {
        refused(path, command, &["s.toml:11: damping.example.1.shape", "combination of those before it"]);
    }
    // the whole body, moved: differences of velocities are all that this damping sees
    let mesh = build(&setup::load_text("box.toml", body, &[]).unwrap()).unwrap().model.bodies[0].mesh.clone();
    let moved: Vec<Vec3> = mesh.positions.iter().map(|x| x + Vec3::new(0.0, 0.1, 0.0)).collect();
    dashpot::mesh::write::write(&path.join("moved.vtk"), &mesh, &moved).unwrap();
    write(["a", "b"], ["mode = 1", "file = \"moved.vtk\""]);
    refused(path, &run, &["s.toml:11: damping.example.1.shape", "this shape is undamped"]);
    write(["a", "b;c"], ["mode = 1", "mode = 2"]);
    refused(path, &run, &["s.toml:10: damping.example.1.name", "b;c"]);
}
