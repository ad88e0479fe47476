//! Three damping designs of an elephant's trunk and ears: Figure 11.

use super::super::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study};
use super::swing::{Swing, swing};
use crate::Result;

pub(super) const FIG_11: Claim = Claim {
    id: "fig-11",
    place: "Figure 11",
    says: "Scaling the damping of the trunk by 0.1 from side to side and 3 back and forth makes it livelier sideways and calmer forward; \
           the reverse design biases it the other way; ears damped three times as much recover more slowly while the trunk stays as it was.",
    runs: "`elephant-trunk`, 4 s, with γ of (trunk sideways, trunk forward, ears) = (1, 1, 1), (0.1, 3, 1), (3, 0.1, 1) and (1, 1, 3).",
    caveat: "The elephant is moved to and fro by paths of what holds its body, not by a rig.",
    study: figure_11,
    ..Claim::PHYSICS
};

/// The designs: the scales of the trunk sideways and forward, and of both ears.
const DESIGNS: [(&str, [f64; 3]); 4] = [
    ("Rayleigh", [1.0, 1.0, 1.0]),
    ("0.1, 3, 1, 1", [0.1, 3.0, 1.0]),
    ("3, 0.1, 1, 1", [3.0, 0.1, 1.0]),
    ("1, 1, 3, 3", [1.0, 1.0, 3.0]),
];
/// The scene's frames of 1/60 s.
const FRAMES: usize = 240;
/// When its steps end (s).
const STANDS: f64 = 1.6;

fn scales([sideways, forward, ears]: [f64; 3]) -> [String; 4] {
    let all = [sideways, forward, ears, ears];
    std::array::from_fn(|k| format!("damping.example.{k}.gamma={:?}", all[k]))
}

fn figure_11(study: &mut Study) -> Result<()> {
    let mut swings: Vec<Swing> = Vec::new();
    for (_, design) in DESIGNS {
        let settings = scales(design);
        let mut simulation = study.simulate("elephant-trunk", &settings.each_ref().map(String::as_str))?;
        swings.push(swing(&mut simulation, FRAMES)?);
    }
    let largest =
        swings.iter().flat_map(|swing| &swing.chi).flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    study.measure("largest excitation of all", "", largest, "", Bound::Told);
    let rms = |run: usize, example: usize| swings[run].unrest(example, STANDS);
    let of = |run: usize, example: usize| rms(run, example) / rms(0, example);
    study.measure(
        "0.1, 3: trunk sideways, rms of Rayleigh's",
        "more lively",
        of(1, 0),
        "",
        Bound::Above(1.3),
    );
    study.measure("0.1, 3: trunk forward", "damped faster", of(1, 1), "", Bound::Below(0.77));
    study.measure("3, 0.1: trunk sideways", "damped faster", of(2, 0), "", Bound::Below(0.77));
    study.measure("3, 0.1: trunk forward", "more lively", of(2, 1), "", Bound::Above(1.3));
    study.measure("ears × 3: left ear", "damped faster", of(3, 2), "", Bound::Below(0.77));
    study.measure("ears × 3: trunk sideways", "1", of(3, 0), "", Bound::Within { theirs: 1.0, share: 0.1 });
    let rows = DESIGNS.iter().enumerate().map(|(run, (name, _))| {
        let mut row = vec![name.to_string()];
        row.extend((0..4).map(|example| format!("{:.4}", rms(run, example))));
        row
    });
    let rows = rows.collect();
    study.table(
        "rms of χ after the steps",
        &["scales", "sideways", "forward", "left ear", "right ear"],
        rows,
    );
    let names = ["trunk sideways", "trunk forward", "left ear"];
    let panels = names.iter().enumerate().map(|(example, name)| {
        let curves =
            swings.iter().zip(DESIGNS).map(|(swing, (run, _))| Curve::new(run, swing.over_time(example)));
        Panel::over_time(*name, Axis::linear("excitation χ"), curves.collect())
    });
    let figure = Figure::new(panels.collect());
    study.plot("excitations", "Motion of trunk and ear under the designs.", &figure)?;
    let settings = DESIGNS.map(|(_, design)| scales(design));
    let settings: Vec<[&str; 4]> = settings.iter().map(|all| all.each_ref().map(String::as_str)).collect();
    let strips: Vec<Strip> = settings
        .iter()
        .zip(DESIGNS)
        .map(|(settings, (caption, _))| Strip {
            caption,
            scene: "elephant-trunk",
            text: None,
            settings,
            frames: &[15, 45, 75, 100, 112, 124],
        })
        .collect();
    study.film("elephant", "The elephant under the four designs.", &strips)
}
