//! Validation of contact: its law, and which fields belong to which shape of an obstacle.

use super::attach::check_path;
use crate::scene::check::{Checked, direction, fault, not_negative, positive};
use crate::scene::{Contact, Obstacle, ObstacleShape};

pub fn check_contact(contact: &Contact) -> Checked {
    contact.stiffness.map_or(Ok(()), |stiffness| positive("contact.stiffness", stiffness))?;
    not_negative("contact.friction", contact.friction)?;
    contact.thickness.map_or(Ok(()), |thickness| not_negative("contact.thickness", thickness))
}

/// What a shape must be given and what it may be given.
fn fields(shape: ObstacleShape) -> (&'static [&'static str], &'static [&'static str]) {
    match shape {
        ObstacleShape::Plane => (&[], &["point", "normal"]),
        ObstacleShape::Sphere => (&["radius"], &["centre"]),
        ObstacleShape::Box => (&["half_size"], &["centre", "rotation"]),
        ObstacleShape::Capsule => (&["ends", "radius"], &[]),
    }
}

pub fn check_obstacle(at: &str, obstacle: &Obstacle) -> Checked {
    let (needed, allowed) = fields(obstacle.shape);
    let (given, name) = (obstacle.given(), obstacle.shape.name());
    if let Some(field) = given.iter().find(|field| !needed.contains(field) && !allowed.contains(field)) {
        let known = [needed, allowed].concat().join(", ");
        return fault(format!("{at}.{field}"), format!("does not belong to a {name}, which has {known}"));
    }
    if let Some(field) = needed.iter().find(|field| !given.contains(field)) {
        return fault(format!("{at}.{field}"), format!("is required for a {name} and not given"));
    }
    obstacle.radius.map_or(Ok(()), |radius| positive(format!("{at}.radius"), radius))?;
    for (axis, half) in obstacle.half_size.iter().flatten().enumerate() {
        positive(format!("{at}.half_size.{axis}"), *half)?;
    }
    obstacle.normal.map_or(Ok(()), |normal| direction(format!("{at}.normal"), normal))?;
    obstacle
        .rotation
        .as_ref()
        .map_or(Ok(()), |rotation| direction(format!("{at}.rotation.axis"), rotation.axis))?;
    obstacle.friction.map_or(Ok(()), |friction| not_negative(format!("{at}.friction"), friction))?;
    obstacle.spin.as_ref().map_or(Ok(()), |spin| direction(format!("{at}.spin.axis"), spin.axis))?;
    obstacle.path.as_ref().map_or(Ok(()), |path| check_path(&format!("{at}.path"), path))
}
