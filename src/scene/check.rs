//! Checks of one field, for all that validate a scene: the message names the field and what was expected.

use crate::error::InputError;
use crate::{Vec3, suggest};

/// What a check comes to.
pub type Checked = Result<(), InputError>;

/// A fault of a field.
pub fn fault(field: impl Into<String>, message: impl Into<String>) -> Checked {
    Err(InputError::field(field, message))
}

/// That something is not so; else a fault of the field.
pub fn refuse_if(wrong: bool, field: impl Into<String>, message: impl Into<String>) -> Checked {
    if wrong { fault(field, message) } else { Ok(()) }
}

/// More than 0.
pub fn positive(field: impl Into<String>, value: f64) -> Checked {
    if value > 0.0 { Ok(()) } else { fault(field, format!("must be positive, got {value}")) }
}

/// 0 or more.
pub fn not_negative(field: impl Into<String>, value: f64) -> Checked {
    if value >= 0.0 { Ok(()) } else { fault(field, format!("must be 0 or more, got {value}")) }
}

/// 1 or more.
pub fn at_least_one(field: &str, value: usize) -> Checked {
    if value >= 1 { Ok(()) } else { fault(field, format!("must be 1 or more, got {value}")) }
}

/// One of these names; the message suggests the nearest.
pub fn known(field: impl Into<String>, name: &str, names: &[&str]) -> Checked {
    if names.contains(&name) {
        return Ok(());
    }
    let hint = suggest::closest(name, names.iter().copied());
    let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    fault(field, format!("`{name}` is not known{hint} (known: {})", names.join(", ")))
}

/// An axis: it must be possible to scale it to length one.
pub fn direction(field: impl Into<String>, axis: [f64; 3]) -> Checked {
    let length = Vec3::from(axis).norm();
    if length == 0.0 {
        return fault(field, "must not be the zero vector");
    }
    // Squares of very long vectors overflow; such an axis is a slip, not a direction.
    if length.is_finite() { Ok(()) } else { fault(field, "is too long to be a direction") }
}

/// Keyframes: ascending times, and as many values, whose field is `name`.
pub fn check_times(at: &str, times: &[f64], name: &str, values: usize) -> Checked {
    refuse_if(times.is_empty(), format!("{at}.times"), "must hold at least one time")?;
    if times.len() != values {
        let count = times.len();
        return fault(
            format!("{at}.{name}"),
            format!("must be as many as `times`, which are {count}, got {values}"),
        );
    }
    match (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
        Some(i) => {
            let (before, got) = (times[i - 1], times[i]);
            fault(
                format!("{at}.times.{i}"),
                format!("must be later than the time before, {before}, got {got}"),
            )
        }
        None => Ok(()),
    }
}
