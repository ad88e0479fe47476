//! `dashpot bench accuracy`: its records agree with what is known of the methods.

use crate::common::{fails, succeeds};
use serde_json::Value;

/// Every setting of the smallest scene is there, and what is known by theory comes out: more of the same is no worse, and steps of second
/// order beat those of first.
#[test]
fn a_benchmark_of_accuracy_compares_all_settings_with_the_converged_motion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let least = ["--largest", "2900", "--frames", "6", "--json", "a.json", "--plot", "a.svg"];
    let out = succeeds(path, &[&["bench", "accuracy"], &least[..]].concat());
    assert!(out.contains("bar S") && out.contains("backward-euler"), "{out}");
    let scene = &serde_json::from_slice::<Value>(&std::fs::read(path.join("a.json")).unwrap()).unwrap()[0];
    assert!(scene["reference_error"].as_f64().unwrap() < 1e-3 * scene["motion"].as_f64().unwrap());
    let settings = scene["settings"].as_array().unwrap();
    assert_eq!(settings.len(), 48);
    let share = |integrator: &str, history: u64, iterations: u64| {
        let wanted = |one: &&Value| {
            one["integrator"] == integrator
                && one["history"] == history
                && one["substeps"] == 1
                && one["iterations"] == iterations
        };
        settings.iter().find(wanted).unwrap()["share"].as_f64().unwrap()
    };
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2", "bathe"] {
        assert!(share(integrator, 0, 40) < share(integrator, 0, 5), "{integrator}");
        assert!(share(integrator, 5, 10) < share(integrator, 0, 10), "{integrator}");
    }
    assert!(share("bathe", 5, 40) < share("backward-euler", 5, 40));
    assert!(std::fs::read_to_string(path.join("a.svg")).unwrap().contains("bar S"));
    fails(path, &["bench", "accuracy", "--largest", "10"], 2, &["--largest"]);
    fails(path, &["bench", "scale", "--plot", "a.svg"], 2, &["--plot", "accuracy"]);
}
