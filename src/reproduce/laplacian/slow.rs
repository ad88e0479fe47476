//! Figures 3 and 5: the Laplacian against lagged Rayleigh and variational damping.
//!
//! Coefficients of different models cannot be compared: L resists every velocity gradient, also that of parts of a body that turn as they
//! bend, which K and W let pass. So a rival's coefficient is the one with which the motion decays as fast, after nothing acts from outside
//! any more.

use super::compare::{Matched, apart, kinetic_action, match_decay, nearest, rms};
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study, Watched};
use crate::{Result, Vec3};

/// A character under the Laplacian and under a rival.
struct Comparison {
    scene: &'static str,
    settings: &'static [&'static str],
    /// Where the vertex that is watched rests (m).
    watched: [f64; 3],
    rival: &'static str,
    /// Its coefficient's field.
    field: &'static str,
    /// α₂ (s), small enough that the character sways.
    stiffness: f64,
    /// An α₂ with which it hardly does any more (s).
    strong: f64,
    /// Where the search for the rival's coefficient begins, in α₂.
    first: f64,
    frames: usize,
    /// Nothing acts from outside from then on (s).
    free_from: f64,
    film: [usize; 6],
}

const PIG: Comparison = Comparison {
    scene: "pig",
    settings: &["body.0.mesh.target_tets=2500"],
    watched: [0.0, 0.55, 0.6],
    rival: "rayleigh",
    field: "stiffness",
    stiffness: 1e-4,
    strong: 1e-3,
    first: 25.0,
    frames: 120,
    free_from: 0.8,
    film: [30, 48, 54, 60, 72, 90],
};

const DUMMY: Comparison = Comparison {
    scene: "dummy",
    // soles that do not give way: no damping of deformation takes anything from what swings on the springs that hold it
    settings: &["body.0.mesh.target_tets=1500", "body.0.attach.0.stiffness=1e8"],
    watched: [0.0, 1.1, 0.0],
    rival: "variational",
    field: "eta",
    stiffness: 5e-5,
    strong: 5e-4,
    first: 3e3,
    frames: 90,
    free_from: 0.7,
    film: [24, 30, 36, 42, 60, 90],
};

pub const FIGURE_3: Claim = Claim {
    id: "fig-3",
    place: "Figure 3",
    says: "A pig pulled by its snout and let go moves almost the same under Laplacian and lagged Rayleigh damping.",
    runs: "`pig` with 2,500 tetrahedra: the snout's distance from where it rests, under the Laplacian, under Rayleigh damping at the same α₂, at \
           the α₂ with which the motion decays as fast, and undamped.",
    caveat: "The coefficients are not comparable: Rayleigh damping needs an α₂ some 25 times as large, at which one frequency decays alike, and the \
             motions are alike while the snout sways; under ten times the damping they are not.",
    study: |study| compare(study, &PIG),
    ..Claim::PHYSICS
};

pub const FIGURE_5: Claim = Claim {
    id: "fig-5",
    place: "Figure 5",
    says: "A dummy that is punched moves almost the same under Laplacian and variational damping.",
    runs: "`dummy` with 1,500 tetrahedra and soles that are held firmly (1e8 N/m a vertex): the head's distance from where it rests, under the Laplacian, under variational damping at η = α₂, at \
           the η with which the motion decays as fast, and undamped.",
    caveat: "The coefficients are not comparable: variational damping needs an η some three thousand times α₂, since the Laplacian also resists that the parts of a slender body turn, which they do most \
             where bending is slow. On soles that give way (1e5 N/m a vertex, as in the scene) no η leaves as little motion as this α₂: the stiffer damping makes the dummy, the more it swings as a whole on the \
             springs that hold it, from which damping of deformation takes nothing (with 1,000 tetrahedra 1.1 J s at η = 0.3 s, more with any other, against 0.10).",
    study: |study| compare(study, &DUMMY),
    ..Claim::PHYSICS
};

impl Comparison {
    /// How far the watched vertex is from its start, over time.
    fn run(&self, study: &Study, settings: &[&str]) -> Result<Watched> {
        let mut simulation = study.simulate(self.scene, &[self.settings, settings].concat())?;
        let vertex = nearest(&simulation, self.watched);
        let start: Vec3 = simulation.positions()[vertex];
        study.watch(&mut simulation, self.frames, |now| (now.positions()[vertex] - start).norm())
    }

    /// The rival's settings at a coefficient.
    fn at(&self, coefficient: f64) -> [String; 2] {
        [format!("damping.model={}", self.rival), format!("damping.{}={coefficient:e}", self.field)]
    }

    fn rival(&self, study: &Study, coefficient: f64) -> Result<Watched> {
        let settings = self.at(coefficient);
        self.run(study, &settings.each_ref().map(String::as_str))
    }

    /// The Laplacian at this α₂ (s), and the rival with which the motion decays as fast.
    fn pair(&self, study: &Study, stiffness: f64) -> Result<(Watched, Matched)> {
        let ours = self.run(study, &[&format!("damping.stiffness={stiffness:e}")])?;
        let aim = kinetic_action(&ours, self.free_from);
        let rival = |coefficient| self.rival(study, coefficient);
        let matched = match_decay(aim, self.free_from, self.first * stiffness, rival)?;
        Ok((ours, matched))
    }
}

/// The largest value of a run.
fn largest(run: &Watched) -> f64 {
    run.values.iter().copied().fold(0.0, f64::max)
}

fn compare(study: &mut Study, case: &Comparison) -> Result<()> {
    let (ours, matched) = case.pair(study, case.stiffness)?;
    let (strong, strong_matched) = case.pair(study, case.strong)?;
    let none = case.run(study, &["damping.model=none"])?;
    let same = case.rival(study, case.stiffness)?;
    let off = |other: &Watched| apart(&ours, other, 0.0) / largest(&ours);
    let of_rival = off(&matched.run);
    for (damping, stiffness, matched) in
        [("weak", case.stiffness, &matched), ("strong", case.strong, &strong_matched)]
    {
        let missed = format!("{damping} damping, {stiffness:e} s: motion left, off by");
        // the paper shows one damping; the velocities that variational damping leaves do not fall any further beyond some strength
        let bound = if damping == "weak" { Bound::Between(-0.05, 0.05) } else { Bound::Told };
        study.measure(&missed, "", matched.miss.exp_m1(), "", bound);
        let factor = matched.coefficient / stiffness;
        study.measure("its coefficient over α₂", "not told", factor, "", Bound::Told);
    }
    // what an eye compares: a twentieth of the motion; at most a seventh, and far from undamped
    let told = ["apart, of the largest distance (rms)", "almost the same"];
    study.measure_either(told[0], told[1], of_rival, "", Bound::Below(0.05), Some(Bound::Below(0.15)));
    let freely = apart(&ours, &matched.run, case.free_from) / free_size(&ours, case.free_from);
    study.measure("the same, of the sway after nothing acts any more", "", freely, "", Bound::Told);
    study.measure("undamped and Laplacian apart", "", off(&none), "", Bound::Told);
    study.measure("undamped over rival apart", "", off(&none) / of_rival, "", Bound::Above(2.0));
    study.measure("apart at equal coefficients", "", off(&same), "", Bound::Told);
    let strongly = apart(&strong, &strong_matched.run, 0.0) / largest(&strong);
    study.measure("apart under strong damping", "", strongly, "", Bound::Told);
    draw(study, case, [&ours, &none, &same], &matched)
}

/// The root of the mean square of a curve about its end, from a time on.
fn free_size(run: &Watched, from: f64) -> f64 {
    let last = run.values.last().copied().unwrap_or_default();
    let free = run.over_time().into_iter().filter(|(time, _)| *time >= from);
    rms(free.map(|(_, value)| value - last))
}

fn draw(
    study: &mut Study,
    case: &Comparison,
    [ours, none, same]: [&Watched; 3],
    matched: &Matched,
) -> Result<()> {
    let rival = format!("{}, {:.3} s", case.rival, matched.coefficient);
    let curves = vec![
        Curve::new("Laplacian", ours.over_time()),
        Curve::new(rival, matched.run.over_time()),
        Curve::new(format!("{}, same number", case.rival), same.over_time()).dashed(),
        Curve::new("none", none.over_time()).dashed(),
    ];
    let up = Axis::linear("distance (m)").within(0.0, 1.5 * largest(ours));
    let place = Panel::over_time("How far the watched point is from its start", up, curves);
    let energy = |name: &str, run: &Watched| Curve::new(name, run.motion.over_time(|row| row.kinetic));
    let curves =
        vec![energy("Laplacian", ours), energy(case.rival, &matched.run), energy("none", none).dashed()];
    let kinetic = Panel::over_time("Energy of motion", Axis::logarithmic("energy (J)"), curves);
    study.plot("motion", "Laplacian, rival and no damping.", &Figure::new(vec![place, kinetic]))?;
    let settings = case.at(matched.coefficient);
    let rival = [case.settings, &settings.each_ref().map(String::as_str)].concat();
    let stiffness = format!("damping.stiffness={:e}", case.stiffness);
    let laplacian = [case.settings, &[stiffness.as_str()]].concat();
    let undamped = [case.settings, &["damping.model=none"]].concat();
    let strip = |caption, settings| Strip {
        caption,
        scene: case.scene,
        settings,
        frames: &case.film,
        ..Strip::default()
    };
    let strips = [strip("Laplacian", &laplacian), strip(case.rival, &rival), strip("none", &undamped)];
    study.film("film", "The Laplacian above, the rival that decays as fast, and no damping.", &strips)
}
