//! The ledger: a row a frame, and where every joule went.
//!
//!   total(t) = total(0) − damped − contact_loss − plastic − numerical + work
//!
//! `damped` is what the damping model took, by its own formula. `work` is what moving attachments, those that take hold or let
//! go, and stiffening bodies gave, `contact_loss` what contact took,
//! `plastic` what bodies gave off that yielded.
//! `numerical` is what is left: lost (positive) or gained (negative) by the integrator and by iterations that
//! stopped early. So the five sum up to round-off; that the blame is right is tested with the closed form of
//! each integrator's loss.

use crate::Vec3;
use serde::{Deserialize, Serialize};

/// What a backend sees of its state at one moment. SI units, momenta about the origin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observation {
    /// Σ m |v|²/2 (J).
    pub kinetic: f64,
    /// Energy of all elastic elements (J).
    pub elastic: f64,
    /// −Σ m g·x (J).
    pub gravity: f64,
    /// Energy of contacts (J).
    pub contact: f64,
    /// Energy of the attachments (J).
    pub attachment: f64,
    /// P = Σ m v (kg m/s).
    pub momentum: Vec3,
    /// L = Σ m x × v (kg m²/s).
    pub angular_momentum: Vec3,
    /// Centre of mass (m).
    pub centre: Vec3,
    /// Least det F of all tetrahedra; 1 if there are none.
    pub min_volume_ratio: f64,
    /// Number of tetrahedra with det F ≤ 0.
    pub inverted: usize,
}

impl Observation {
    /// The sum of all energies (J).
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity + self.contact + self.attachment
    }
}

/// Energy exchanged, over the steps since the report before (J).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Exchange {
    /// Taken by the damping inside Φ: Δx · r D v', r the row's `drag`; where a share σ of the impulse is of the force at the
    /// start of the step, of the mean velocity (1 − σ) v' + σ v_n.
    pub damped: f64,
    /// Given by moving attachments, Σ k (T_e − x_e) · ΔT, by stiffening, Σ (s' − s) E(x_n), and by attachments that take
    /// hold or let go.
    pub work: f64,
    /// Taken by contact: by friction, less what moving obstacles gave.
    pub contact: f64,
    /// Given off by bodies that yield. Not a backend's to fill in.
    pub plastic: f64,
}

/// A row of `ledger.csv`. Energies in J, momenta about the origin in kg m/s and kg m²/s, positions in m.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[allow(missing_docs)] // the columns of the public contract, described in docs/ledger.md
pub struct Row {
    pub frame: usize,
    pub time: f64,
    pub kinetic: f64,
    pub elastic: f64,
    pub gravity: f64,
    pub contact: f64,
    pub attachment: f64,
    pub total: f64,
    pub momentum: [f64; 3],
    pub angular_momentum: [f64; 3],
    pub centre: [f64; 3],
    pub damped: f64,
    pub numerical: f64,
    pub work: f64,
    pub iterations: usize,
    pub residual: f64,
    pub min_volume_ratio: f64,
    pub inverted: usize,
    pub contact_loss: f64,
    pub plastic: f64,
}

/// The header of `ledger.csv`: part of the public contract.
pub const HEADER: &str = "frame,time,kinetic,elastic,gravity,contact,attachment,total,px,py,pz,lx,ly,lz,\
                          cmx,cmy,cmz,damped,numerical,work,iterations,residual,min_volume_ratio,inverted,contact_loss,plastic";

impl Row {
    /// The first column that is not a finite number.
    pub fn not_finite(&self) -> Option<&'static str> {
        let vectors = [self.momentum, self.angular_momentum, self.centre];
        let energies = [self.kinetic, self.elastic, self.gravity, self.contact, self.attachment, self.total];
        let accounts = [self.damped, self.numerical, self.work];
        let last = [self.residual, self.min_volume_ratio, self.contact_loss, self.plastic];
        let numbers = energies.into_iter().chain(vectors.into_iter().flatten()).chain(accounts).chain(last);
        let counts = ["frame", "time", "iterations", "inverted"];
        let columns = HEADER.split(',').filter(|column| !counts.contains(column));
        columns.zip(numbers).find(|(_, number)| !number.is_finite()).map(|(column, _)| column)
    }

    /// The row as a line of `ledger.csv`, without the line's end. Numbers read back to the same bits.
    pub fn csv(&self) -> String {
        let mut line = self.frame.to_string();
        let energies = [self.time, self.kinetic, self.elastic, self.gravity, self.contact, self.attachment];
        let vectors = [self.momentum, self.angular_momentum, self.centre];
        let numbers = energies.into_iter().chain([self.total]).chain(vectors.into_iter().flatten()).chain([
            self.damped,
            self.numerical,
            self.work,
        ]);
        for number in numbers {
            line += &format!(",{number:?}");
        }
        let (residual, ratio) = (self.residual, self.min_volume_ratio);
        line + &format!(
            ",{},{residual:?},{ratio:?},{},{:?},{:?}",
            self.iterations, self.inverted, self.contact_loss, self.plastic
        )
    }

    /// Reads such a line back; `None` if it is none.
    pub fn read(line: &str) -> Option<Self> {
        fn next<'a, N: std::str::FromStr>(cells: &mut impl Iterator<Item = &'a str>) -> Option<N> {
            cells.next()?.parse().ok()
        }
        let mut cells = line.split(',');
        let frame = next(&mut cells)?;
        let mut numbers = [0.0; 19];
        for number in &mut numbers {
            *number = next(&mut cells)?;
        }
        let [
            time,
            kinetic,
            elastic,
            gravity,
            contact,
            attachment,
            total,
            ref vectors @ ..,
            damped,
            numerical,
            work,
        ] = numbers;
        let vector = |k: usize| [vectors[k], vectors[k + 1], vectors[k + 2]];
        let row = Row {
            frame,
            time,
            kinetic,
            elastic,
            gravity,
            contact,
            attachment,
            total,
            momentum: vector(0),
            angular_momentum: vector(3),
            centre: vector(6),
            damped,
            numerical,
            work,
            iterations: next(&mut cells)?,
            residual: next(&mut cells)?,
            min_volume_ratio: next(&mut cells)?,
            inverted: next(&mut cells)?,
            contact_loss: next(&mut cells)?,
            plastic: next(&mut cells)?,
        };
        cells.next().is_none().then_some(row)
    }
}

/// The running account behind the rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Book {
    total_at_start: f64,
    damped: f64,
    work: f64,
    contact: f64,
    plastic: f64,
    last: Row,
}

impl Book {
    /// Starts the account with the row of frame 0.
    pub fn open(&mut self, start: Row) {
        let last = Row { numerical: 0.0, ..start };
        *self = Book { total_at_start: start.total, last, ..Book::default() };
    }

    /// Books what the steps of a frame exchanged.
    pub fn exchange(&mut self, exchange: Exchange) {
        self.damped += exchange.damped;
        self.work += exchange.work;
        self.contact += exchange.contact;
        self.plastic += exchange.plastic;
    }

    /// Whatever else has gone since the last row was taken by damping: the integrator is the damping model.
    pub fn charge_damping(&mut self, seen: &Observation) {
        let unknown = self.total_at_start - seen.total() - self.contact - self.plastic + self.work;
        self.damped = unknown - self.last.numerical; // what another integrator lost before stays its loss
    }

    /// Closes a frame: makes its row.
    pub fn row(
        &mut self,
        frame: usize,
        time: f64,
        seen: &Observation,
        iterations: usize,
        residual: f64,
    ) -> Row {
        let total = seen.total();
        self.last = Row {
            frame,
            time,
            kinetic: seen.kinetic,
            elastic: seen.elastic,
            gravity: seen.gravity,
            contact: seen.contact,
            attachment: seen.attachment,
            total,
            momentum: seen.momentum.into(),
            angular_momentum: seen.angular_momentum.into(),
            centre: seen.centre.into(),
            damped: self.damped,
            numerical: self.total_at_start - total - self.damped - self.contact - self.plastic + self.work,
            work: self.work,
            iterations,
            residual,
            min_volume_ratio: seen.min_volume_ratio,
            inverted: seen.inverted,
            contact_loss: self.contact,
            plastic: self.plastic,
        };
        self.last
    }

    pub fn last(&self) -> Row {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_to_the_same_bits() {
        let odd = [0.1 + 0.2, -0.0, 5e-324, -f64::MAX];
        let vector = |k: usize| [odd[k], 1.0 / 3.0, 7.0 + k as f64];
        let row = Row {
            frame: 1234,
            time: odd[0],
            kinetic: 1.0,
            elastic: 2.0,
            gravity: odd[1],
            contact: odd[2],
            attachment: 6.0,
            total: odd[3],
            momentum: vector(0),
            angular_momentum: vector(1),
            centre: vector(2),
            damped: 8.0,
            numerical: 9.0,
            work: 10.0,
            iterations: 11,
            residual: 12.5,
            min_volume_ratio: 13.5,
            inverted: 14,
            contact_loss: 15.0,
            plastic: 16.0,
        };
        let line = row.csv();
        assert_eq!(line.split(',').count(), HEADER.split(',').count());
        let back = Row::read(&line).unwrap();
        assert_eq!(back, row);
        assert_eq!(back.csv(), line, "signs of zeros, too");
        let cut = line.rsplit_once(',').unwrap().0;
        for bad in [cut, &format!("{line},1"), HEADER, "", &line.replace("11", "1.1")] {
            assert_eq!(Row::read(bad), None, "{bad}");
        }
    }
}
