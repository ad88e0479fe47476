//! Which built-in scenes a device makes whole frames of, and why the host looks into the others.

use crate::common::context;
use dashpot::Simulation;
use dashpot::gpu;
use dashpot::scene::builtin::SCENES;
use dashpot::setup::{self, build};
use std::process::Command;
use std::sync::Arc;

/// What a scene with contact is made with the host for.
const ON_HOST: [&str; 5] = [
    "contact beside conservation",
    "contact beside example damping",
    "contact beside a line search",
    "contact beside a tolerance",
    "plasticity",
];

/// Scenes that the host looks into for other reasons.
const OTHERS: &[(&str, &str)] = &[
    ("thesis-trapezoid", "a line search beside conservation"),
    ("thesis-annulus", "a line search beside conservation"),
    ("belly-targets", "a line search beside examples"),
];

#[test]
fn the_host_looks_into_a_scene_only_for_a_reason_in_this_table() {
    let Some(context) = context() else { return };
    for scene in SCENES {
        let loaded = setup::load_text(scene.name, scene.text, &[]).unwrap();
        let model = Arc::new(build(&loaded).unwrap().model);
        let options = gpu::Options::default();
        let backend = gpu::backend(context.clone(), model.clone(), &loaded.scene.solver, &options).unwrap();
        let simulation = Simulation::new(&loaded.scene, model, backend).unwrap();
        let reasons = simulation.host_reasons();
        let other = OTHERS.iter().find(|(name, _)| *name == scene.name).map(|(_, reason)| *reason);
        let has_reason = reasons.iter().any(|reason| ON_HOST.contains(&reason.as_str()));
        match other {
            Some(reason) => assert!(reasons.iter().any(|r| r == reason), "{}: {reasons:?}", scene.name),
            None => assert!(reasons.is_empty() || has_reason, "{}: {reasons:?}", scene.name),
        }
    }
}

#[test]
fn the_table_names_the_place_of_a_scene_and_what_a_frame_costs() {
    if context().is_none() {
        return;
    }
    let row = |scene: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_dashpot"))
            .args(["scenes", scene, "--resident"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().nth(1).unwrap().split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    let cube = row("cube");
    assert_eq!(cube[..2], ["cube", "device"]);
    // one submission, no wait, nothing up, and the report of a body and five kinds of elements, sixteen numbers each, behind its head
    assert_eq!(cube[3..], ["1", "0", "0", "448"]);
    let pile = row("box-pile");
    assert_eq!(pile[..3], ["box-pile", "host", "contact"]);
    assert_ne!(pile[7], "1", "submissions");
}
