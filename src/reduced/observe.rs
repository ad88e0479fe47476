//! Frames of a reduced body and their rows of the ledger, in space like those of a whole one.
//!
//! Seen from the seat, H̃ = ½ |p|² + E − m g·u changes by the work of −m c̈, by damping and by the integrator. In space it is
//! H = H̃ + ċ·Σ m u̇ + ½ m |ċ|² − m g·c, so the work that the seat gives is the one of −m c̈ and the change of the last three terms.

use super::Reduced;
use crate::ledger::{Exchange, Observation, Row};
use crate::model::Model;
use crate::model::tet::signed_volume;
use crate::observe::MotionSource;
use crate::step::clock::{Clock, Phase};
use crate::{Result, Vec3};

impl Reduced {
    /// One frame, and its row of the ledger.
    pub fn frame(&mut self) -> Result<Row> {
        let from = self.carried();
        let mut clock = self.clock;
        let (mut iterations, mut residual) = (0, 0.0);
        clock.time(Phase::Global, || -> Result<()> {
            for _ in 0..self.pace.1 {
                let solved = self.step()?;
                iterations += solved.iterations;
                residual = solved.residual;
            }
            Ok(())
        })?;
        self.exchanged.work += std::mem::take(&mut self.pushed) + self.carried() - from;
        let seen = clock.time(Phase::Observe, || {
            self.update();
            self.observe()
        });
        self.clock = clock;
        self.book.exchange(std::mem::take(&mut self.exchanged));
        let frame = self.frame_number();
        let row = self.book.row(frame, self.time(), &seen, iterations, residual);
        // the coordinates are, but their energies may not be
        let is_finite = row.total.is_finite() && row.numerical.is_finite();
        if is_finite { Ok(row) } else { Err(self.not_finite(frame).into()) }
    }

    pub(super) fn open_book(&mut self) {
        self.update();
        (self.exchanged, self.pushed) = (Exchange::default(), 0.0);
        let seen = self.observe();
        let row = self.book.row(0, self.time(), &seen, 0, 0.0);
        self.book.open(row);
    }

    /// ċ·Σ m u̇ + ½ m |ċ|² − m g·c (J).
    fn carried(&self) -> f64 {
        let (at, velocity) = (self.frame.offset(self.time()), self.frame.velocity(self.time()));
        let mass: f64 = self.model.mass.iter().sum();
        let momentum = self.frame.turn * (self.shifts.tr_mul(&self.p));
        velocity.dot(&momentum) + 0.5 * mass * velocity.norm_squared() - mass * self.model.gravity.dot(&at)
    }

    /// Positions and velocities of all vertices.
    pub fn update(&mut self) {
        let Reduced { shapes, frame, q, p, model, .. } = &*self;
        let (at, velocity) = (frame.offset(self.time()), frame.velocity(self.time()));
        let mut positions: Vec<Vec3> = frame.placed.iter().map(|x| x + at).collect();
        let mut velocities = vec![velocity; model.vertex_count()];
        shapes.add(&frame.turn, q, &mut positions);
        shapes.add(&frame.turn, p, &mut velocities);
        (self.positions, self.velocities) = (positions, velocities);
    }

    fn observe(&self) -> Observation {
        let (model, x, v) = (&self.model, &self.positions, &self.velocities);
        let mut seen = Observation { min_volume_ratio: f64::INFINITY, ..Observation::default() };
        for ((m, x), v) in model.mass.iter().zip(x).zip(v) {
            seen.kinetic += 0.5 * m * v.norm_squared();
            seen.gravity -= m * model.gravity.dot(x);
            seen.momentum += v * *m;
            seen.angular_momentum += x.cross(v) * *m;
            seen.centre += x * *m;
        }
        seen.centre /= model.mass.iter().sum::<f64>();
        seen.elastic = self.elastic.at(&self.q).energy;
        seen.attachment = self.held.energy(&self.q);
        for e in &model.tets {
            let volume = signed_volume(&e.vertices.map(|vertex| x[vertex as usize]));
            let ratio = 6.0 * volume * e.inverse_rest.determinant();
            seen.min_volume_ratio = seen.min_volume_ratio.min(ratio);
            seen.inverted += usize::from(ratio <= 0.0);
        }
        seen
    }
}

impl MotionSource for Reduced {
    fn model(&self) -> &Model {
        &self.model
    }
    fn positions(&self) -> &[Vec3] {
        &self.positions
    }
    fn velocities(&self) -> &[Vec3] {
        &self.velocities
    }
    fn clock(&self) -> &Clock {
        &self.clock
    }
    fn frame_number(&self) -> usize {
        self.steps as usize / self.pace.1
    }
}
