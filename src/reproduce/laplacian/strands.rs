//! Figure 7, hair that is shaken, and Figure 8, a sheet that drops, in shorter and shorter time steps.

use super::compare::{nearest, rms};
use crate::Result;
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study, Watched};
use crate::{Simulation, Vec3};

pub const FIGURE_7: Claim = Claim {
    id: "fig-7",
    place: "Figure 7",
    says: "Shaken hair is too bouncy under backward Euler alone; Laplacian damping calms it.",
    runs: "`hair` with its damping and without: how far tips sway from below their roots, while the head shakes and in the second after.",
    quick: true,
    study: hair,
    ..Claim::PHYSICS
};

/// Two seconds of shaking, and one and a half after.
const HAIR_FRAMES: usize = 105;

/// The root of the mean square of how far tips are from hanging straight down from where their roots are held (m).
fn sway(simulation: &Simulation) -> f64 {
    let model = simulation.model();
    let x = simulation.positions();
    // strand after strand, each from root to tip, every root held
    let strand = x.len() / model.attachments.len().max(1);
    let roots = model.attachments.iter().map(|attachment| attachment.vertex as usize);
    let start = &model.initial_positions;
    let off = roots.map(|root| {
        let tip = root + strand - 1;
        let away = (x[tip] - x[root]) - (start[tip] - start[root]);
        Vec3::new(away.x, 0.0, away.z).norm()
    });
    rms(off)
}

fn hair(study: &mut Study) -> Result<()> {
    let strands = if study.is_quick() { "body.0.mesh.strands=10" } else { "body.0.mesh.strands=100" };
    let run = |settings: &[&str]| -> Result<Watched> {
        let mut simulation = study.simulate("hair", &[&[strands][..], settings].concat())?;
        study.watch(&mut simulation, HAIR_FRAMES, sway)
    };
    let (damped, bouncy) = (run(&[])?, run(&["damping.model=none"])?);
    let within = |run: &Watched, from: f64, to: f64| {
        let points = run.over_time().into_iter().filter(|(time, _)| (from..to).contains(time));
        rms(points.map(|(_, off)| off))
    };
    // the head is shaken for two seconds
    let [shaken, free] = [&damped, &bouncy].map(|run| within(run, 0.0, 2.0));
    let [calm, wild] = [&damped, &bouncy].map(|run| within(run, 2.5, 3.5));
    study.measure("sway while shaken, damped", "", shaken * 1e3, "mm rms", Bound::Told);
    study.measure("over that of the undamped", "moves", shaken / free, "", Bound::Above(0.5));
    // the energy of swaying goes with the square; a tenth of it is little
    let (left, remains) = ((calm / shaken).powi(2), (wild / free).powi(2));
    study.measure(
        "energy of sway left a second later, undamped",
        "too bouncy",
        remains,
        "",
        Bound::Above(0.1),
    );
    study.measure("energy of sway left a second later, damped", "calm", left, "", Bound::Below(0.1));
    let curves =
        vec![Curve::new("Laplacian", damped.over_time()), Curve::new("none", bouncy.over_time()).dashed()];
    let panel = Panel::over_time("Tips from below their roots", Axis::linear("distance (m)"), curves);
    study.plot("sway", "Hair that is shaken for two seconds.", &Figure::new(vec![panel]))?;
    let frames = [15, 19, 23, 66, 81, 96];
    let strip =
        |caption, settings| Strip { caption, scene: "hair", settings, frames: &frames, ..Strip::default() };
    let strips = [strip("Laplacian", &[]), strip("none", &["damping.model=none"])];
    study.film("film", "With Laplacian damping above, without below.", &strips)
}

pub const FIGURE_8: Claim = Claim {
    id: "fig-8",
    place: "Figure 8",
    says: "A sheet that drops moves alike with steps of 1.65 ms and 0.165 ms, and differently with 33 ms.",
    runs: "`sheet`, one second, in steps of 33, 1.65 and 0.165 ms: how far its free end is apart from that of the shortest.",
    study: sheet,
    ..Claim::PHYSICS
};

fn sheet(study: &mut Study) -> Result<()> {
    // frames of 33 ms: in one step, in 20, in 200
    let mut run = |substeps: &str| -> Result<Vec<Vec3>> {
        let mut simulation = study.simulate("sheet", &["time.step=0.033", substeps])?;
        let end = nearest(&simulation, [1.0, 1.5, 0.1]);
        let mut path = Vec::new();
        study.watch(&mut simulation, 30, |simulation| {
            path.push(simulation.positions()[end]);
            0.0
        })?;
        Ok(path)
    };
    let [coarse, fine, finest] = ["time.substeps=1", "time.substeps=20", "time.substeps=200"].map(&mut run);
    let (coarse, fine, finest) = (coarse?, fine?, finest?);
    let far = |a: &[Vec3], b: &[Vec3]| rms(a.iter().zip(b).map(|(a, b)| (a - b).norm()));
    let (near, other) = (far(&fine, &finest), far(&coarse, &finest));
    // a hundredth of its length cannot be seen in the paper's pictures
    study.measure("1.65 ms from 0.165 ms", "very similar", near * 1e3, "mm rms", Bound::Below(10.0));
    study.measure("33 ms from 0.165 ms", "different", other * 1e3, "mm rms", Bound::Above(10.0));
    study.measure("33 ms off, over 1.65 ms off", "", other / near, "", Bound::Above(5.0));
    let curve = |name: &str, path: &[Vec3]| {
        Curve::new(name, path.iter().enumerate().map(|(k, x)| (0.033 * k as f64, x.y)).collect())
    };
    let curves = vec![curve("33 ms", &coarse), curve("1.65 ms", &fine), curve("0.165 ms", &finest).dashed()];
    let panel = Panel::over_time("The sheet's free end", Axis::linear("height (m)"), curves);
    study.plot("end", "The free end in steps of three lengths.", &Figure::new(vec![panel]))?;
    let frames = [0, 6, 12, 18, 24, 30];
    let strip =
        |caption, settings| Strip { caption, scene: "sheet", settings, frames: &frames, ..Strip::default() };
    let strips = [
        strip("33 ms", &["time.step=0.033"]),
        strip("1.65 ms", &["time.step=0.033", "time.substeps=20"]),
        strip("0.165 ms", &["time.step=0.033", "time.substeps=200"]),
    ];
    study.film("film", "The sheet in steps of three lengths.", &strips)
}
