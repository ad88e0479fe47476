//! Scene fields as shown in the window: one line each, with range, unit and help text.

use toml::Value;

/// Choices: value and label.
pub type Choices = &'static [(&'static str, &'static str)];

/// The widget of a field.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Linear slider from low to high.
    Even(f64, f64),
    /// Logarithmic slider; if `low` is zero it starts at zero, followed by `smallest`.
    Log {
        low: f64,
        high: f64,
        smallest: f64,
    },
    /// Integers from low to high.
    Whole(u32, u32),
    /// A checkbox.
    Switch,
    Choice(Choices),
    /// Any of several choices, written as a list of strings.
    Several(Choices),
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Dotted path in the scene; relative to the body for materials.
    pub path: &'static str,
    pub label: &'static str,
    /// Unit, or empty.
    pub unit: &'static str,
    pub help: &'static str,
    pub kind: Kind,
}

/// A field without a help sentence.
pub const fn field(path: &'static str, label: &'static str, unit: &'static str, kind: Kind) -> Field {
    Field { path, label, unit, help: "", kind }
}

impl Field {
    /// The same with a help sentence.
    pub const fn help(self, help: &'static str) -> Field {
        Field { help, ..self }
    }
}

/// A logarithmic slider.
pub const fn log(low: f64, high: f64, smallest: f64) -> Kind {
    Kind::Log { low, high, smallest }
}

const INTEGRATORS: Choices = &[
    ("backward-euler", "backward Euler"),
    ("implicit-midpoint", "implicit midpoint"),
    ("bdf2", "BDF-2"),
    ("trapezoidal", "trapezoidal"),
    ("newmark", "Newmark"),
    ("bathe", "Bathe"),
    ("symplectic-euler", "symplectic Euler"),
    ("velocity-verlet", "velocity Verlet"),
    ("non-oscillatory", "non-oscillatory"),
];
const GLOBAL_SOLVERS: Choices = &[
    ("auto", "automatic"),
    ("cholesky", "Cholesky factor"),
    ("chebyshev", "Chebyshev"),
    ("hybrid", "factor on the host"),
];
const METHODS: Choices = &[("none", "off"), ("cpd", "in the solve (CPD)"), ("fepr", "after it (FEPR)")];

/// Time step and integrator.
pub const INTEGRATOR: &[Field] = &[
    field("integrator.kind", "integrator", "", Kind::Choice(INTEGRATORS))
        .help("Backward Euler adds strong numerical damping, BDF-2 a little, implicit midpoint none: like the trapezoidal rule, it may even gain energy. Bathe's method (half trapezoidal, half BDF-2) dissipates least among the stable ones. Newmark damps according to γ. Symplectic Euler and Verlet are explicit: no solve, but the step must be short. Non-oscillatory motion settles within a time you choose."),
    field("integrator.rest_time", "time to rest", "s", log(0.2, 20.0, 0.2))
        .help("Non-oscillatory motion only: 1 % of the distance to rest remains after this time."),
    field("integrator.kappa", "oscillation κ", "", Kind::Even(0.0, 1.0))
        .help("Non-oscillatory motion only: the fraction of the oscillating velocity kept in each step."),
    field("integrator.gamma", "Newmark γ", "", Kind::Even(0.5, 1.0))
        .help("Newmark only: 0.5 adds no damping; larger values damp fast vibrations more."),
    field("integrator.beta", "Newmark β", "", Kind::Even(0.25, 1.0))
        .help("Newmark only: follows γ unless set. At least γ/2."),
    field("time.step", "frame", "s", log(1e-3, 0.1, 1e-3))
        .help("Duration of a frame. Longer frames have larger energy errors."),
    field("time.substeps", "steps a frame", "", Kind::Whole(1, 200))
        .help("Time steps per frame: shorter steps have smaller errors."),
];

/// Iterations and the linear solve.
pub const SOLVER: &[Field] = &[
    field("time.iterations", "iterations", "", Kind::Whole(1, 100))
        .help("Maximum number of local/global iterations per time step. Too few act as damping."),
    field("time.tolerance", "tolerance", "", log(0.0, 0.1, 1e-9))
        .help("Iterations stop when the gradient falls below this fraction of its initial value; 0: never."),
    field("solver.kind", "solver", "", Kind::Choice(&[("projective", "projective"), ("newton", "Newton")]))
        .help("Projective: many cheap iterations. Newton: fewer but costlier iterations, CPU only."),
    field("solver.history", "history", "", Kind::Whole(0, 20))
        .help("L-BFGS history: number of past iterations used to accelerate the projective solver; 0: off."),
    field("solver.global", "global step", "", Kind::Choice(GLOBAL_SOLVERS))
        .help("How the linear system is solved: exactly with a Cholesky factor, or approximately with Chebyshev iterations, which need less memory. On the host: the GPU leaves the solve to the processor."),
    field("solver.inner", "inner iterations", "", Kind::Whole(0, 200))
        .help("Chebyshev iterations per global step; 0: as many as needed."),
    field("solver.precision", "precision", "", Kind::Choice(&[("double", "double"), ("single", "single"), ("half", "half")]))
        .help("Precision of the projections and the solve on the CPU; half: of the factor on a device."),
];

pub const CONSERVATION: &[Field] = &[
    field("conservation.method", "method", "", Kind::Choice(METHODS))
        .help("Conserves the momenta and energy of every body, whatever the integrator's own errors. Choose implicit midpoint with it: frequencies are then right, too."),
    field("conservation.hold", "hold", "", Kind::Several(&[("P", "P"), ("L", "L"), ("H", "H")]))
        .help("Conserved quantities: P momentum, L angular momentum, H energy."),
    field("conservation.gamma", "decay γ", "1/s", log(0.0, 100.0, 1e-3))
        .help("Rate at which vibration energy decays; rigid motion is unaffected. Requires energy (H) to be conserved."),
    field("conservation.tolerance", "tolerance", "", log(1e-8, 1e-1, 1e-8))
        .help("Constraint tolerance, relative to the body's energy."),
    field("conservation.iterations", "iterations", "", Kind::Whole(1, 100))
        .help("Maximum iterations per time step while energy is conserved."),
];

pub const CONTACT: &[Field] = &[
    field("contact.friction", "friction", "", Kind::Even(0.0, 2.0))
        .help("Coulomb friction coefficient between bodies, and with obstacles that do not set their own."),
    field("contact.stiffness", "stiffness", "N/m", log(1.0, 1e7, 1.0))
        .help("Force on a vertex per metre of penetration. Automatic: derived from the bodies."),
    field("contact.law", "law", "", Kind::Choice(&[("linear", "linear"), ("cubic", "cubic")]))
        .help("Force grows with the penetration depth, or with its square."),
    field("contact.thickness", "thickness", "m", log(0.0, 0.1, 1e-5))
        .help("Thickness of every surface, half on each side. Automatic: derived from the bodies."),
    field("contact.bodies", "bodies touch each other", "", Kind::Switch)
        .help("Contact between different bodies."),
    field("contact.self", "bodies touch themselves", "", Kind::Switch)
        .help("Contact between parts of the same body, such as folds and limbs."),
];

/// Fields of a material; a body has those that its scene gives it.
pub const MATERIAL: &[Field] = &[
    field("young_modulus", "Young's modulus", "Pa", log(1e2, 1e8, 1e2))
        .help("Resistance to stretching: jelly 10⁴, rubber 10⁶."),
    field("poisson_ratio", "Poisson's ratio", "", Kind::Even(0.0, 0.49))
        .help("How much the material thins when stretched: 0 cork, 0.5 rubber."),
    field("mu", "shear modulus μ", "Pa", log(1e2, 1e8, 1e2))
        .help("Resistance to shear: about a third of Young's modulus."),
    field("lambda", "λ", "Pa", log(0.0, 1e8, 1e2)).help("Resistance to volume change."),
    field("density", "density", "kg/m³", log(1.0, 1e4, 1.0)).help("Mass per volume: water 1000."),
    field("mass", "mass", "kg", log(1e-3, 1e4, 1e-3)).help("Mass of the whole body."),
    field("stiffness", "springs", "N/m", log(1e-1, 1e6, 1e-1)).help("Stiffness of the edge springs."),
    field("shear_stiffness", "shear springs", "N/m", log(0.0, 1e6, 1e-2))
        .help("Stiffness of the diagonal springs."),
    field("bending_stiffness", "bending springs", "N/m", log(0.0, 1e6, 1e-3))
        .help("Stiffness of the springs between every other vertex."),
    field("bending", "bending rigidity", "N m", log(0.0, 1.0, 1e-9))
        .help("Resistance of the cloth to bending."),
    field("yield_stress", "yield limit", "Pa", log(1e1, 1e8, 1e1))
        .help("Stress above which the material yields."),
    field("creep_rate", "creep rate", "1/s", log(1e-2, 1e4, 1e-2))
        .help("Rate at which stress above the yield limit relaxes."),
];

/// Gravity's height.
pub const GRAVITY: Field = field("gravity.1", "gravity (up)", "m/s²", Kind::Even(-20.0, 20.0))
    .help("Acceleration along y: −9.81 on Earth, −1.62 on the Moon.");

/// The value at a dotted path of a scene, bodies and list entries by number.
pub fn get<'a>(scene: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(scene, crate::scene::get)
}

pub fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A number as it is written in a scene.
pub fn written(value: f64) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup;

    #[test]
    fn every_field_is_one_of_a_scene_and_takes_what_the_window_writes() {
        let loaded = setup::load("bouncing-ball", &[]).unwrap();
        let tree = Value::try_from(&loaded.scene).unwrap();
        for field in [INTEGRATOR, SOLVER, CONSERVATION, CONTACT, &[GRAVITY]].concat() {
            let optional = [
                "contact.stiffness",
                "contact.thickness",
                "integrator.rest_time",
                "integrator.kappa",
                "integrator.gamma",
                "integrator.beta",
                "solver.history",
                "damping.local_torque",
            ]
            .contains(&field.path);
            assert!(optional || get(&tree, field.path).is_some(), "{} is no field of a scene", field.path);
            let mut values = match field.kind {
                Kind::Even(low, high) | Kind::Log { low, high, .. } => vec![written(low), written(high)],
                Kind::Whole(low, high) => vec![low.to_string(), high.to_string()],
                Kind::Switch => vec!["true".into(), "false".into()],
                Kind::Choice(choices) => choices.iter().map(|(value, _)| value.to_string()).collect(),
                Kind::Several(choices) => choices.iter().map(|(value, _)| format!("[\"{value}\"]")).collect(),
            };
            if field.path == "conservation.gamma" {
                values.truncate(1); // needs energy held
            }
            for value in values {
                let mut sets = vec![format!("{}={value}", field.path)];
                if ["integrator.kind", "solver.kind", "solver.history"].contains(&field.path) {
                    sets.push("conservation.method=none".into()); // not all of them can hold
                }
                assert!(setup::load("bouncing-ball", &sets).is_ok(), "{sets:?}");
            }
            assert!(!field.help.is_empty() && field.help.ends_with('.'), "{}", field.path);
        }
    }

    #[test]
    fn fields_of_materials_are_those_of_scenes() {
        for field in MATERIAL {
            let known = setup::load("bar", &[format!("body.0.material.{}=oops", field.path)]);
            let message = known.unwrap_err().to_string();
            assert!(message.contains("number"), "{}: {message}", field.path);
        }
    }
}
