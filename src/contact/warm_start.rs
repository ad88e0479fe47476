//! Contact forces of the previous step, for warm starts.

use super::constraint::ContactConstraint;
use crate::Vec3;

/// Numbers per stored force in a checkpoint.
pub const NUMBERS: usize = 5;

/// A contact force at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoredForce {
    /// The vertex it acted on.
    pub vertex: u32,
    /// The obstacle or triangle it came from, numbered as in [`ContactConstraint`].
    pub surface: u32,
    /// (N)
    pub force: Vec3,
}

/// Contact forces, ascending by vertex and surface.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WarmStart(Vec<StoredForce>);

impl WarmStart {
    /// The non-zero forces.
    pub fn of(constraints: &[ContactConstraint]) -> WarmStart {
        let acting = constraints.iter().filter(|constraint| constraint.force != Vec3::zeros());
        let entry =
            |f: &ContactConstraint| StoredForce { vertex: f.vertices[0], surface: f.surface, force: f.force };
        WarmStart::sorted(acting.map(entry).collect())
    }

    fn sorted(mut entries: Vec<StoredForce>) -> WarmStart {
        entries.sort_by_key(|entry| (entry.vertex, entry.surface));
        WarmStart(entries)
    }

    /// The forces on a vertex.
    pub fn on(&self, vertex: u32) -> &[StoredForce] {
        let first = self.0.partition_point(|entry| entry.vertex < vertex);
        let count = self.0[first..].partition_point(|entry| entry.vertex == vertex);
        &self.0[first..first + count]
    }

    /// As numbers, for a checkpoint.
    pub fn numbers(&self) -> Vec<f64> {
        let numbers = |e: &StoredForce| [e.vertex.into(), e.surface.into(), e.force.x, e.force.y, e.force.z];
        self.0.iter().flat_map(numbers).collect()
    }

    /// From the numbers of [`WarmStart::numbers`]. Invalid entries are dropped: this is only a starting guess.
    pub fn from_numbers(numbers: &[f64]) -> WarmStart {
        let whole = |x: f64| (x >= 0.0 && x < f64::from(u32::MAX) && x.fract() == 0.0).then_some(x as u32);
        let entry = |n: &[f64]| {
            let force = Vec3::new(n[2], n[3], n[4]);
            let (vertex, surface) = (whole(n[0])?, whole(n[1])?);
            force.iter().all(|f| f.is_finite()).then_some(StoredForce { vertex, surface, force })
        };
        WarmStart::sorted(numbers.chunks_exact(NUMBERS).filter_map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_back() {
        let entry = |vertex, surface, f: f64| StoredForce { vertex, surface, force: Vec3::new(f, -f, 0.1) };
        let warm_start = WarmStart::sorted(vec![entry(7, 1, 2.0), entry(3, 9, 1.0), entry(7, 0, 0.5)]);
        assert_eq!(warm_start.on(7), [entry(7, 0, 0.5), entry(7, 1, 2.0)]);
        assert_eq!(warm_start.on(4), []);
        assert_eq!(WarmStart::from_numbers(&warm_start.numbers()), warm_start);
        let nonsense =
            [f64::NAN, 1.0, 0.0, 0.0, 0.0, 1.0, -2.0, 0.0, 0.0, 0.0, 1.0, 2.0, f64::INFINITY, 0.0, 0.0, 5.0];
        assert_eq!(WarmStart::from_numbers(&nonsense), WarmStart::default());
    }
}
