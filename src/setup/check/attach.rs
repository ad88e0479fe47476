//! Validation of attachments: which vertices they hold, and the paths along which they move.

use crate::model::attachment::span;
use crate::scene::check::{Checked, check_times, direction, fault, not_negative, positive, refuse_if};
use crate::scene::{Attach, Path, Select};

/// Validates an attachment in time steps of length `h` (s).
pub fn check_attach(at: &str, attach: &Attach, h: f64) -> Checked {
    check_select(&format!("{at}.select"), &attach.select)?;
    positive(format!("{at}.stiffness"), attach.stiffness)?;
    let from = attach.from.unwrap_or(0.0);
    not_negative(format!("{at}.from"), from)?;
    if let Some(until) = attach.until {
        let field = format!("{at}.until");
        refuse_if(until <= from, &field, format!("must be later than `from`, which is {from}, got {until}"))?;
        let [takes_hold, lets_go] = span([from, until], h);
        let message = format!("no time step of {h} s begins from {from} to {until} s: it would never hold");
        refuse_if(takes_hold == lets_go, field, message)?;
    }
    attach.path.as_ref().map_or(Ok(()), |path| check_path(&format!("{at}.path"), path))
}

/// Validates a choice of vertices.
pub fn check_select(at: &str, select: &Select) -> Checked {
    let boxed = select.min.is_some() || select.max.is_some();
    let ways = [boxed, select.vertices.is_some(), select.nearest.is_some()];
    let message = "give exactly one of: a box (`min` and `max`), `vertices`, `nearest`";
    refuse_if(ways.iter().filter(|&&given| given).count() != 1, at, message)?;
    let message = "must list at least one vertex";
    refuse_if(select.vertices.as_ref().is_some_and(Vec::is_empty), format!("{at}.vertices"), message)?;
    match (select.min, select.max) {
        (Some(_), None) => fault(format!("{at}.max"), "is required with `min`"),
        (None, Some(_)) => fault(format!("{at}.min"), "is required with `max`"),
        (Some(min), Some(max)) => match (0..3).find(|&axis| min[axis] > max[axis]) {
            Some(axis) => {
                let (low, high) = (min[axis], max[axis]);
                fault(
                    format!("{at}.max.{axis}"),
                    format!("must not be below `min`, which is {low}, got {high}"),
                )
            }
            None => Ok(()),
        },
        (None, None) => Ok(()),
    }
}

/// Validates the motion of attached points or of an obstacle.
pub fn check_path(at: &str, path: &Path) -> Checked {
    match path {
        Path::Translate { .. } => Ok(()),
        Path::Circle { axis, radius, period, .. } => {
            direction(format!("{at}.axis"), *axis)?;
            not_negative(format!("{at}.radius"), *radius)?;
            positive(format!("{at}.period"), *period)
        }
        Path::Keyframes { times, offsets } => check_times(at, times, "offsets", offsets.len()),
    }
}
