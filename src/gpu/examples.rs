//! Damping along example shapes on the device: a low-rank update of the metric, `crate::step::minimise::low_rank`.
//!
//! Once a stage four dispatches find T, γ and P; each iteration then has four more: the update joins the gradient before the solve, and
//! the direction is corrected by Woodbury's formula after it. The gradient is whole, so rounding of B costs no accuracy.

use super::contents::{EXAMPLE_LAWS, EXAMPLES, example_laws, examples, row_by_row};
use super::kernel::{Call, Columns, Id};
use super::layout::{SHAPES, Step};
use super::{Buffer, Contents, Gpu, state};
use crate::elastic::Scalar;
use crate::linear::multi_vector::MultiVector;
use crate::step::clock::Phase;
use crate::step::coefficients::StepCoefficients;
use crate::step::resident_examples::ResidentGroup;
use crate::{Result, Vec3};

/// What the device has of example shapes.
pub(super) struct DeviceExamples {
    groups: Vec<ResidentGroup>,
    /// B of both stages and all matrices, as they are on the device.
    solutions: Vec<f32>,
    matrices: Vec<f32>,
    /// The metrics that B belong to.
    metrics: [Option<u64>; 2],
    /// The stage being made.
    stage: usize,
}

impl DeviceExamples {
    fn follow(&self) -> bool {
        self.groups.iter().any(|group| group.followed.is_some())
    }

    fn have_curves(&self) -> bool {
        self.groups.iter().any(|group| group.laws.iter().any(|(_, curve)| curve.is_some()))
    }

    /// Column j of U of all groups, as a gradient.
    fn column(&self, j: usize, vertices: usize) -> Vec<[f32; 3]> {
        let mut all = vec![[0.0f32; 3]; vertices];
        for group in self.groups.iter().filter(|group| j < group.shapes()) {
            let column = group.vertices.clone().zip(&group.forces[j]);
            column.for_each(|(i, u)| all[i] = u.map(|c| c as f32).into());
        }
        all
    }

    /// Takes B of a stage, column by column over all vertices, and computes S.
    fn set_solutions(&mut self, stage: usize, columns: &[Vec<[f32; 3]>]) {
        let half = self.solutions.len() / 2;
        let (mut at, mut matrix) = (stage * half, 0);
        for group in &self.groups {
            let k = group.shapes();
            let own = |column: &Vec<[f32; 3]>| column[group.vertices.clone()].to_vec();
            let own: Vec<Vec<[f32; 3]>> = columns.iter().take(k).map(own).collect();
            for number in own.iter().flatten().flatten() {
                self.solutions[at] = *number;
                at += 1;
            }
            let wide = |b: &[f32; 3]| Vec3::from(b.map(f64::from));
            let b: Vec<Vec<Vec3>> = own.iter().map(|column| column.iter().map(wide).collect()).collect();
            let s = row_by_row(&MultiVector::products(&group.forces, &b));
            let to = &mut self.matrices[matrix + (2 + stage) * k * k..][..k * k];
            to.iter_mut().zip(s).for_each(|(to, s)| *to = s);
            matrix += 4 * k * k + 3 * k;
        }
    }
}

impl<T: Scalar> Gpu<T> {
    /// Sends the shapes: see [`crate::step::Resident`].
    pub(super) fn send_examples(&mut self, groups: &[ResidentGroup], laws_only: bool) -> Result<()> {
        // pending commands still mean what is there now
        self.stream.submit()?;
        let mut all = Contents::empty();
        all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
        if let Some(known) = self.examples.as_mut().filter(|_| laws_only) {
            known.groups = groups.to_vec();
            example_laws(groups, &mut all);
            return self.stream.replace(&all, EXAMPLE_LAWS);
        }
        examples(groups, &self.model, &mut all)?;
        self.stream.replace(&all, EXAMPLES)?;
        self.examples = Some(DeviceExamples {
            groups: groups.to_vec(),
            solutions: all.items(Buffer::ExampleSolutions).to_vec(),
            matrices: all.items(Buffer::ExampleMatrices).to_vec(),
            metrics: [None; 2],
            stage: 0,
        });
        Ok(())
    }

    /// A stage begins.
    pub(super) fn start_examples(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let (stage, metric) = (coefficients.row.stage.min(1), Some(self.global.version()));
        let Some(examples) = &mut self.examples else { return Ok(()) };
        examples.stage = stage;
        if examples.metrics[stage] != metric {
            self.solve_columns(stage)?;
        }
        let Some(examples) = &mut self.examples else { return Ok(()) };
        examples.metrics[stage] = metric;
        let (follow, have_curves) = (examples.follow(), examples.have_curves());
        self.stream.phase(Phase::Predict);
        self.set_numbers(state::numbers(coefficients, self.model.gravity, &self.numbers)?);
        if follow || have_curves {
            self.stream.kernel(Id::measure_pose)?;
            self.stream.kernel(Id::reduce_pose)?;
        }
        if have_curves {
            self.stream.kernel(Id::measure_excitation)?;
        }
        self.stream.call(Id::couple_examples, Call { series: stage, ..Call::default() })
    }

    /// γ of the last stage.
    pub(super) fn read_gammas(&mut self) -> Result<Vec<Vec<f64>>> {
        self.stream.submit()?;
        let shares = self.stream.read_items::<[f32; 3 * SHAPES]>(Buffer::ExampleShares)?;
        let groups = self.examples.iter().flat_map(|examples| &examples.groups);
        let of = |(group, shares): (&ResidentGroup, [f32; 3 * SHAPES])| {
            shares[..group.shapes()].iter().map(|gamma| f64::from(*gamma)).collect()
        };
        Ok(groups.zip(shares).map(of).collect())
    }

    /// B = A⁻¹U and S = UᵀB of a stage, by the device's own solves. Islands are independent: a solve has a column of each.
    fn solve_columns(&mut self, stage: usize) -> Result<()> {
        let Some(mut examples) = self.examples.take() else { return Ok(()) };
        let position = self.global.fronts().map(|plan| plan.position.clone()).unwrap_or_default();
        let count = examples.groups.iter().map(ResidentGroup::shapes).max().unwrap_or(0);
        let mut columns = Vec::with_capacity(count);
        for j in 0..count {
            let column = examples.column(j, self.model.vertex_count());
            self.stream.upload(Buffer::Gradient, bytemuck::cast_slice(&column));
            self.solve_fronts(Columns::Gradient)?;
            self.stream.submit()?;
            let solution = self.stream.read_items::<[f32; 3]>(Buffer::FrontSolution)?;
            columns.push(position.iter().map(|&at| solution[at as usize]).collect());
        }
        examples.set_solutions(stage, &columns);
        self.stream.write(Buffer::ExampleSolutions, bytemuck::cast_slice(&examples.solutions));
        self.stream.write(Buffer::ExampleMatrices, bytemuck::cast_slice(&examples.matrices));
        self.examples = Some(examples);
        Ok(())
    }

    /// The stage of a step that the device damps along shapes in; `None` if it does not.
    fn example_stage(&self) -> Option<Call> {
        let examples = self.examples.as_ref().filter(|_| self.panels.is_some())?;
        Some(Call { series: examples.stage, ..Call::default() })
    }

    /// After a local step: the update joins the gradient.
    pub(super) fn add_examples_to_gradient(&mut self) -> Result<()> {
        let Some(call) = self.example_stage() else { return Ok(()) };
        self.stream.call(Id::measure_along, call)?;
        self.stream.call(Id::solve_along, call)?;
        self.stream.call(Id::add_example_force, call)
    }

    /// After a solve: A⁻¹g becomes the direction of the updated metric.
    pub(super) fn add_examples_to_solution(&mut self) -> Result<()> {
        self.example_stage().map_or(Ok(()), |call| self.stream.call(Id::add_example_solution, call))
    }

    /// The update's part U P Uᵀ v_n of the gradient at the start of a step.
    pub(super) fn add_examples_to_start(&mut self) -> Result<()> {
        if self.example_stage().is_none() {
            return Ok(());
        }
        let of_step = self.numbers;
        // v' = v_n and d = 1
        self.set_numbers(Step {
            free_velocity_before: 0.0,
            free_velocity_displacement: 0.0,
            free_velocity_gravity: 0.0,
            slope: 0.0,
            dissipation: 1.0,
            inertia: 1.0,
            ..of_step
        });
        let added = self.add_examples_to_gradient();
        self.set_numbers(of_step);
        added
    }

    /// After `advance`: the energy that the update took.
    pub(super) fn measure_example_drag(&mut self) -> Result<()> {
        if self.example_stage().is_none() {
            return Ok(());
        }
        self.stream.kernel(Id::measure_drag)?;
        self.stream.kernel(Id::reduce_drag)
    }
}
