//! How long explicit steps may be under damping that acts before the bodies move.

use crate::common::simulate;
use dashpot::reproduce::longest_step::{PRECISION, Trial};
use dashpot::setup;

/// Two masses of 0.5 kg on a spring of 100 N/m: ω² = 400 1/s².
const OSCILLATOR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    integrator = { kind = "symplectic-euler" }
    damping = { model = "point", gamma = 0.5 }
    [[body]]
    mesh = { generate = "hair", strands = 1, segments = 1, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 1.0 }
    stretch = [1.0, 1.1, 1.0]
"#;

/// A filter that takes the share g of a mode's velocity lets it be stable up to h²ω² = (4 − 2g)/(1 − g), more than the 4 without.
#[test]
fn damping_before_the_bodies_move_lengthens_the_stable_step() {
    for gamma in [0.0, 0.2, 0.5, 0.8f64] {
        let longest = ((4.0 - 2.0 * gamma) / (1.0 - gamma)).sqrt() / 20.0;
        let energy = |h: f64| {
            let (step, gamma) = (format!("time.step={h}"), format!("damping.gamma={gamma}"));
            let mut oscillator = simulate(OSCILLATOR, &[&step, &gamma]);
            let first = oscillator.last_row().total;
            (0..150).map_while(|_| oscillator.frame().ok().map(|row| row.total / first)).fold(0.0, f64::max)
        };
        // below, the energy is at most that of the first overshoot; beyond, an oscillation grows at first and then breaks the spring
        assert!(energy(0.97 * longest) < 40.0, "γ = {gamma}: {}", energy(0.97 * longest));
        assert!(energy(1.03 * longest) > 60.0, "γ = {gamma}: {}", energy(1.03 * longest));
    }
}

const MEMBRANE: &str = r#"
    integrator = { kind = "symplectic-euler" }
    [[body]]
    name = "membrane"
    mesh = { generate = "sheet", cells = [6, 6], size = [0.6, 0.6], thickness = 0.04 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
    attach = [
        { select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 2e4 },
        { select = { min = [0.59, -1.0, -1.0], max = [0.61, 1.0, 1.0] }, stiffness = 2e4 },
    ]
    [[body]]
    name = "ball"
    mesh = { generate = "ball", radius = 0.1, cells = 4 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 500.0 }
    position = [0.3, 0.25, 0.3]
"#;

fn longest(damping: &[&str]) -> f64 {
    let settings: Vec<String> = damping.iter().map(|s| s.to_string()).collect();
    let trial = Trial::new(setup::load_text("test", MEMBRANE, &settings).unwrap(), 0.4).unwrap();
    let (longest, runs) = trial.longest(1e-3).unwrap();
    println!("{damping:?}: {:.3} ms in {runs} runs", 1e3 * longest);
    assert!(trial.is_stable(longest).unwrap() && !trial.is_stable(longest * PRECISION).unwrap());
    longest
}

#[test]
fn a_membrane_bears_longer_steps_with_direct_damping_than_with_springs() {
    let none = longest(&["damping.model=none"]);
    let spring = longest(&["damping.model=spring", "damping.gamma=0.95"]);
    let direct = longest(&["damping.model=direct", "damping.gamma=0.95"]);
    assert!(direct > spring * PRECISION, "direct {direct} s, spring {spring} s");
    assert!(spring > none, "spring {spring} s, undamped {none} s");
}
