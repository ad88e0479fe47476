//! Contact where it is hard: overlaps at the start, thin and fast, hard and soft, tiny and single. No panic, no number that
//! is not finite, no energy from nowhere.

use crate::common::simulate;

const GROUND: &str = "[[obstacle]]\nshape = \"plane\"\n";

fn body(cells: usize, size: f64, position: [f64; 3], more: &str) -> String {
    format!(
        "[[body]]\nmesh = {{ generate = \"box\", cells = [{cells}, {cells}, {cells}], size = [{size:e}, {size:e}, {size:e}] }}\n\
         material = {{ model = \"corotated\", young_modulus = 1e5, poisson_ratio = 0.3, density = 500 }}\n\
         position = {position:?}\n{more}\n"
    )
}

/// A single tetrahedron, 20 cm high.
fn tetrahedron(position: [f64; 3]) -> String {
    let file = std::env::temp_dir().join(format!("dashpot-tetrahedron-{}.mesh", std::process::id()));
    let text = "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n0.2 0 0 0\n0 0.2 0 0\n0 0 0.2 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n";
    std::fs::write(&file, text).unwrap();
    let mesh = format!("mesh = {{ file = {:?} }}", file.display().to_string());
    format!(
        "[[body]]\n{mesh}\nmaterial = {{ model = \"arap\", mu = 5e4, density = 500 }}\nposition = {position:?}\n"
    )
}

/// Name, contact settings, the rest of the scene, and the height (m) that the lowest vertex must keep, if any.
type Case = (&'static str, &'static str, String, Option<f64>);

fn cases() -> Vec<Case> {
    // rho v2/2 is 25 times E: where contact takes all of it, half rho L v2 = half kappa delta2 with kappa = E/(0.01 sqrt(3) L)
    // makes delta = 0.19 m
    let fast = "velocity = [0, -100, 0]";
    // 2 mm thick, 2 m wide, its middle at the origin
    let plate = "[[obstacle]]\nshape = \"box\"\ncentre = [0, 0, 0]\nhalf_size = [1, 1e-3, 1]\n";
    let still = "gravity = [0, 0, 0]\n";
    let on_the_ground = |more: &str| format!("{GROUND}{}", body(3, 0.2, [0.0, 0.02, 0.0], more));
    vec![
        (
            "two bodies in each other",
            "",
            format!("{still}{}{}", body(3, 0.2, [0.0; 3], ""), body(3, 0.2, [0.07, 0.09, 0.03], "")),
            None,
        ),
        (
            "two bodies at the same place",
            "",
            format!("{still}{}{}", body(3, 0.2, [0.0; 3], ""), body(3, 0.2, [0.0; 3], "")),
            None,
        ),
        ("half under the ground", "", format!("{GROUND}{}", body(3, 0.2, [0.0, -0.1, 0.0], "")), None),
        (
            "inside a sphere",
            "",
            format!(
                "[[obstacle]]\nshape = \"sphere\"\ncentre = [0.1, 0.1, 0.1]\nradius = 0.5\n{}",
                body(3, 0.2, [0.0; 3], "")
            ),
            None,
        ),
        // contact gives way by more than half the plate: vertices leave it on the far side, and the body passes
        ("a thin plate", "", format!("{still}{plate}{}", body(3, 0.2, [0.0, 0.5, 0.0], fast)), None),
        ("a fast fall", "", format!("{GROUND}{}", body(3, 0.2, [0.0, 0.5, 0.0], fast)), Some(-0.19)),
        ("no friction", "friction = 0", on_the_ground("velocity = [1, 0, 0]"), Some(-0.01)),
        ("friction of 10", "friction = 10", on_the_ground("velocity = [1, 0, 0]"), Some(-0.01)),
        ("hardly any stiffness", "stiffness = 1e-3", on_the_ground(""), None),
        ("a stiffness of 1e12", "stiffness = 1e12", on_the_ground(""), Some(-1e-6)),
        // sweeps end after a hundred with forces that are not evened out yet: some micrometres
        (
            "1e12 against a body",
            "stiffness = 1e12",
            on_the_ground("") + &body(3, 0.2, [0.03, 0.25, 0.01], ""),
            Some(-1e-5),
        ),
        ("a cubic law", "law = \"cubic\"", on_the_ground("velocity = [0, -3, 0]"), Some(-0.05)),
        ("a single tetrahedron", "", format!("{GROUND}{}", tetrahedron([0.0, 0.05, 0.0])), Some(-0.01)),
        (
            "two tetrahedra in each other",
            "self = true",
            format!("{GROUND}{}{}", tetrahedron([0.0; 3]), tetrahedron([0.02, 0.03, 0.01])),
            None,
        ),
        ("a single cell", "", format!("{GROUND}{}", body(1, 0.2, [0.0, 0.05, 0.0], "")), Some(-0.01)),
        ("a micrometre", "", format!("{GROUND}{}", body(2, 1e-6, [0.0, 1e-6, 0.0], "")), Some(-1e-7)),
        (
            "a body that touches itself",
            "self = true",
            format!("{GROUND}{}", body(3, 0.2, [0.0, 0.3, 0.0], "velocity = [0, -30, 0]")),
            Some(-0.05),
        ),
    ]
}

#[test]
fn hard_cases_stay_finite_and_gain_nothing() {
    let mut failed = Vec::new();
    for (name, contact, scene, floor) in cases() {
        for step in ["0.0166666667", "0.0333333333"] {
            // gravity is a key of the file itself: it must come before all tables
            let (head, rest) = match scene.strip_prefix("gravity = [0, 0, 0]\n") {
                Some(rest) => ("gravity = [0, 0, 0]\n", rest),
                None => ("", scene.as_str()),
            };
            let text = format!(
                "{head}[time]\nstep = {step}\n[integrator]\nkind = \"backward-euler\"\n[contact]\n{contact}\n{rest}"
            );
            let mut simulation = simulate(&text, &[]);
            let start = simulation.last_row();
            let heavy: f64 = simulation.model().mass.iter().sum();
            // what there is to turn into something else: the motion, what contact stores, a fall by 0.1 m
            let scale = start.kinetic + start.contact + heavy * 9.81 * 0.1;
            for _ in 0..60 {
                let row = match simulation.frame() {
                    Ok(row) => row,
                    Err(error) => {
                        failed.push(format!("{name} at {step} s: {error}"));
                        break;
                    }
                };
                let low = simulation.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
                if !simulation.positions().iter().all(|x| x.iter().all(|c| c.is_finite())) {
                    failed.push(format!("{name} at {step} s: frame {} is not finite", row.frame));
                    break;
                }
                // Of bodies, without what contact stores: with 1e12 N/m a micrometre, by which depths of one step and
                // the next may differ, is half a joule. 1 %: what planes that change have given.
                let (now, then) = (row.total - row.contact, start.total);
                if now > then + 0.01 * scale {
                    failed.push(format!("{name} at {step} s: frame {}: {then} J became {now} J", row.frame));
                    break;
                }
                // no vertex gets deeper than contact gives way
                if floor.is_some_and(|floor| low < floor) {
                    failed.push(format!("{name} at {step} s: frame {}: {low} m", row.frame));
                    break;
                }
            }
            // squeezed flat, a centre may be below for a moment; in the end it has not passed
            let centre = simulation.last_row().centre[1];
            if floor.is_some() && centre < 0.0 {
                failed.push(format!("{name} at {step} s: it ends at {centre} m"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
