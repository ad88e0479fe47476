//! `dashpot scenes --resident`: which scenes a device makes whole frames of, and what a frame costs.

use super::super::backend::{BackendArgs, on_device};
use super::super::table::{Table, count};
use crate::Result;
use crate::observe::summary::DeviceSummary;
use crate::scene::builtin;
use crate::setup::{self, build};
use crate::step::Simulation;
use std::sync::Arc;

/// Frames that are counted, after a first one that compiles and sends what stays.
const COUNTED: usize = 2;

/// Prints the table of one scene, or of all that are built in.
pub fn list(scene: Option<&str>, adapter: Option<String>) -> Result<()> {
    let device = BackendArgs::device(adapter, None);
    let names: Vec<&str> = match scene {
        Some(name) => vec![name],
        None => builtin::SCENES.iter().map(|scene| scene.name).collect(),
    };
    let heads = ["scene", "where", "why", "dispatches", "submissions", "waits", "bytes up", "bytes down"];
    let mut table = Table::new(3, heads);
    for name in names {
        let cells = match count_frames(name, &device) {
            Ok(Some(counted)) => cells(&counted),
            Ok(None) => continue,
            Err(crate::Error::Run(refused)) => vec!["refused".into(), refused.to_string()],
            Err(error) => return Err(error),
        };
        table.row([name.to_string()].into_iter().chain(cells));
    }
    say!("{table}")?;
    say!(
        "\nCounts are of a frame, in the mean of {COUNTED}. device: the host never looks in, and only the report of a frame comes down, late. \
         surface: the host looks at surfaces for contact, once a step, and in every iteration where something may touch. host: it looks into every \
         iteration, for the reason given."
    )
}

/// What a frame of a scene asks of the device.
fn count_frames(name: &str, device: &BackendArgs) -> Result<Option<DeviceSummary>> {
    let loaded = setup::load(name, &[])?;
    let model = Arc::new(build(&loaded)?.model);
    let (_, backend) = on_device(device, &loaded.scene, model.clone())?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    simulation.frame()?;
    let before = simulation.device_use().unwrap_or_default();
    for _ in 0..COUNTED {
        simulation.start_frame()?;
    }
    let made = simulation.device_use().unwrap_or_default().since(&before);
    simulation.rows(true)?;
    Ok(DeviceSummary::new(&made, COUNTED, &simulation))
}

fn cells(counted: &DeviceSummary) -> Vec<String> {
    let DeviceSummary { dispatches, submissions, waits, bytes_up, bytes_down, host_reasons, .. } = counted;
    let place = match (host_reasons.is_empty(), counted.looks_at_surfaces) {
        (false, _) => "host",
        (true, true) => "surface",
        (true, false) => "device",
    };
    let numbers = [dispatches, submissions, waits, bytes_up, bytes_down].map(|number| count(*number));
    [place.into(), host_reasons.join(", ")].into_iter().chain(numbers).collect()
}
