//! What examples cost: Tables 1 and 2. Times of this machine.

use super::super::{Axis, Bound, Claim, Curve, Figure, Kind, Panel, Study};
use crate::{Result, Simulation};
use std::time::Instant;

pub(super) const TABLE_1: Claim = Claim {
    id: "table-1",
    place: "Table 1",
    says: "The time of a step grows sublinearly with the number of examples k, from 0.14 s without to 0.32 s with ten.",
    runs: "The koala of 11,080 tetrahedra, neo-Hookean, Rayleigh damping, Bathe's step by Newton's method with one iteration in each half, its first k modes as examples with a curve each.",
    kind: Kind::Timing,
    caveat: "Ratios are compared, not seconds: another machine, two threads instead of 16, another mesh of the same size.",
    study: table_1,
    ..Claim::PHYSICS
};

pub(super) const TABLE_2: Claim = Claim {
    id: "table-2",
    place: "Table 2",
    says: "Full simulation with examples runs at 3 (elephant, 10,416 tetrahedra), 5 (dragon, 8,252) and 10 (leaf, 6,210) frames a second.",
    runs: "`elephant-trunk`, and a leaf of 6,210 tetrahedra or more, by projective iterations and by Newton's method.",
    kind: Kind::Timing,
    caveat: "Another machine and other meshes; no dragon; the reduced koala's 110 frames a second are in `dashpot reduce koala`.",
    study: table_2,
    ..Claim::PHYSICS
};

/// Number of examples and time of a step in the paper (s).
const STEPS: [(usize, f64); 6] = [(0, 0.14), (1, 0.15), (2, 0.19), (4, 0.23), (8, 0.31), (10, 0.32)];
/// Frames that are timed of each.
const FRAMES: usize = 5;

/// The koala with so many of its modes as examples.
fn koala(study: &Study, k: usize) -> Result<Simulation> {
    let curve = "{ points = [[0.0, -0.5], [0.5, 0.5], [1.0, 1.0]] }";
    let example = |mode: usize| format!("{{ shape = {{ mode = {mode} }}, curve = {curve} }}");
    let examples = format!("damping.example=[{}]", (1..=k).map(example).collect::<Vec<_>>().join(", "));
    let settings = [
        "solver.kind=newton",
        "damping.model=rayleigh",
        "damping.stiffness=1e-3",
        "integrator.kind=bathe",
        "time.iterations=1",
        "time.step=0.005",
        "body.0.material.model=neo-hookean",
        "obstacle=[]",
        &examples,
    ];
    study.simulate("koala", &settings)
}

/// Seconds of a frame.
fn time(simulation: &mut Simulation) -> Result<f64> {
    let begun = Instant::now();
    simulation.frame()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn table_1(study: &mut Study) -> Result<()> {
    let (mut rows, mut ratios, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let mut none = koala(study, 0)?;
    time(&mut none)?;
    for (k, paper) in STEPS {
        let mut with = koala(study, k)?;
        time(&mut with)?;
        // in turn, so that what else the machine does is in both
        let mut pairs = Vec::new();
        for _ in 0..FRAMES {
            let alone = time(&mut none)?;
            pairs.push((time(&mut with)?, alone));
        }
        let seconds = median(pairs.iter().map(|pair| pair.0).collect());
        let ratio = median(pairs.iter().map(|(with, alone)| with / alone).collect());
        rows.push(vec![
            k.to_string(),
            format!("{paper:.2}"),
            format!("{:.2}", paper / STEPS[0].1),
            format!("{seconds:.3}"),
            format!("{ratio:.2}"),
        ]);
        ratios.push((k as f64, ratio));
        theirs.push((k as f64, paper / STEPS[0].1));
    }
    study.table("Time of a step", &["k", "theirs (s)", "of k = 0", "ours (s)", "of k = 0"], rows);
    let last = ratios[ratios.len() - 1].1;
    study.measure("k = 10, of k = 0", "2.29", last, "", Bound::Below(0.32 / 0.14));
    // ten times what the paper's first example adds would be linear: 10 × 0.01/0.14 for one of their steps
    let each = (last - 1.0) / 10.0;
    study.measure(
        "each of ten examples adds, of a step without",
        "0.129",
        100.0 * each,
        "%",
        Bound::Below(12.9),
    );
    let curves = vec![Curve::new("ours", ratios), Curve::new("theirs", theirs).dashed()];
    let panel = Panel {
        title: "Time of a step".into(),
        across: Axis::linear("examples k"),
        up: Axis::linear("of k = 0").within(0.0, 2.6),
        curves,
    };
    study.plot("time", "Time of a step over the number of examples.", &Figure::new(vec![panel]))
}

fn table_2(study: &mut Study) -> Result<()> {
    let leaf = ["body.0.mesh.cells=[45,2,14]", "time.substeps=1"];
    let newton =
        ["solver.kind=newton", "time.iterations=1", "integrator.kind=bathe", "damping.model=rayleigh"];
    let cases: [(&str, f64, &str, &[&str]); 2] =
        [("elephant", 3.0, "elephant-trunk", &[]), ("leaf", 10.0, "leaf", &leaf)];
    let mut rows = Vec::new();
    for (name, theirs, scene, settings) in cases {
        let mut both = Vec::new();
        let mut size = 0;
        for more in [&[][..], &newton] {
            let mut simulation = study.simulate(scene, &[settings, more].concat())?;
            size = simulation.model().tets.len();
            time(&mut simulation)?;
            let times: Result<Vec<f64>> = (0..FRAMES).map(|_| time(&mut simulation)).collect();
            both.push(1.0 / median(times?));
        }
        let what = format!("{name}, frames a second, projective");
        study.measure(&what, &theirs.to_string(), both[0], "1/s", Bound::Above(theirs));
        rows.push(vec![
            name.into(),
            size.to_string(),
            theirs.to_string(),
            format!("{:.1}", both[0]),
            format!("{:.1}", both[1]),
        ]);
    }
    let heads = ["body", "tetrahedra", "theirs (frames a second)", "projective", "Newton's method"];
    study.table("Frames a second", &heads, rows);
    Ok(())
}
