//! The inside of a step on a device.

use super::Gpu;
use crate::cpu::Scalar;
use crate::step::inside::{Inside, View};
use crate::{Result, Vec3};

impl<T: Scalar> Inside for Gpu<T> {
    fn open(&mut self) -> Result<()> {
        todo!()
    }
    fn metric(&self) -> u64 {
        self.global.version()
    }
    fn view(&mut self) -> View<'_> {
        todo!()
    }
    fn descend(&mut self) -> Result<()> {
        todo!()
    }
    fn correct(&mut self) -> Result<()> {
        todo!()
    }
    fn invert(&mut self, _columns: &mut [Vec3]) -> Result<()> {
        todo!()
    }
    fn local_at_end(&mut self) -> Result<()> {
        todo!()
    }
    fn place(&mut self, _x: &[Vec3]) -> Result<()> {
        todo!()
    }
    fn shift(&mut self, _ways: &[Vec3], _changes: &[Vec3]) -> Result<()> {
        todo!()
    }
}
