//! The papers' claims, tried one by one: `dashpot reproduce`.
//!
//! Every figure, table and quantitative sentence of the five papers is a [`Claim`], a row of its paper's table. Its study runs
//! scenes, measures, and says within which bounds the paper's statement holds; the verdict follows from the bounds. A new claim is a
//! function and a row.
//!
//! Bounds come from the papers or from physics, never from what a run happened to show: a claim that fails is a result.

mod claim;
mod constrained;
mod distances;
mod example;
mod figure;
mod film;
mod laplacian;
pub mod longest_step;
mod motion;
mod optimized;
mod optimized_rules;
mod optimized_springs;
mod record;
mod reduced;
mod report;
mod runner;
mod study;
mod thesis;
mod thesis_control;
mod thesis_modes;
mod thesis_oscillators;
mod thesis_viscosity;

pub use claim::{Claim, Kind, PAPERS, Paper, select};
pub use figure::{Axis, Curve, Figure, Panel};
pub use film::Strip;
pub use motion::{Motion, Watched};
pub use record::{Bound, Measure, Picture, Record, TableRecord, Verdict};
pub use report::{Report, Written, check as check_folder};
pub use runner::{Order, Progress, run};
pub use study::Study;
