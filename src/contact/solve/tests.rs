use super::*;
use crate::contact::constraint::{NO_BODY, Plane};
use nalgebra::{DMatrix, DVector};

/// Numbers between −1 and 1 that look random and are always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.next())
    }
}

/// Two bodies of `n` vertices each, a random metric for each, and contacts of both with planes and with each other.
struct Case {
    inverse: DMatrix<f64>,
    constraints: Vec<ContactConstraint>,
    columns: ComplianceColumns,
    start: Vec<Vec3>,
    free: Vec<Vec3>,
}

impl Case {
    fn new(seed: u64, n: usize, count: usize, friction: f64) -> Case {
        let mut noise = Noise(seed);
        let mut metric = DMatrix::<f64>::zeros(2 * n, 2 * n);
        for first in [0, n] {
            let root = DMatrix::from_fn(n, n, |_, _| noise.next());
            let part = &root * root.transpose() + DMatrix::identity(n, n) * 0.3;
            metric.view_mut((first, first), (n, n)).copy_from(&part);
        }
        let constraints = (0..count).map(|c| constraint(&mut noise, c, n, friction)).collect();
        let surfaces = [(0..n as u32).collect(), (n as u32..2 * n as u32).collect()];
        let start: Vec<Vec3> = (0..2 * n).map(|_| noise.vector()).collect();
        let free = start.iter().map(|x| x + noise.vector() * 0.5).collect();
        let inverse = metric.try_inverse().unwrap();
        Case { inverse, constraints, columns: ComplianceColumns::new(2 * n, &surfaces), start, free }
    }

    fn solve(&mut self, law: ContactLaw, weight: f64) -> Solver {
        let problem = Problem { law, weight, start: &self.start, free: &self.free };
        let active: Vec<usize> = (0..self.constraints.len()).collect();
        let mut solver = Solver::default();
        solver.begin(&self.constraints, &self.columns);
        let matrix = &self.inverse;
        let mut inverse = |batch: &mut [Vec<Vec3>]| {
            for b in batch {
                *b = (0..b.len()).map(|k| (0..b.len()).map(|l| b[l] * matrix[(k, l)]).sum()).collect();
            }
            Ok(())
        };
        solver.solve(&problem, &mut self.constraints, &active, &mut self.columns, &mut inverse).unwrap();
        assert!(solver.sweeps < MOST_SWEEPS, "converged");
        solver
    }

    /// x⁺ = x_free + A⁻¹ Jᵀ f, densely.
    fn positions(&self, weight: f64) -> Vec<Vec3> {
        let mut x = self.free.clone();
        for constraint in &self.constraints {
            for (v, w) in constraint.arms() {
                x.iter_mut()
                    .enumerate()
                    .for_each(|(k, x)| *x += constraint.force * (w * weight * self.inverse[(k, v)]));
            }
        }
        x
    }
}

fn constraint(noise: &mut Noise, number: usize, n: usize, friction: f64) -> ContactConstraint {
    let pair = number % 2 == 1;
    let (b, c) = (noise.next().abs() / 2.0, noise.next().abs() / 2.0);
    let other = |k: usize| (n + (number * 3 + k) % n) as u32;
    ContactConstraint {
        surface: number as u32,
        bodies: [0, if pair { 1 } else { NO_BODY }],
        vertices: [(number % n) as u32, other(0), other(1), other(2)],
        weights: [1.0, b + c - 1.0, -b, -c],
        plane: Plane {
            normal: noise.vector().normalize(),
            offset: noise.next() * 0.5,
            motion: if pair { Vec3::zeros() } else { noise.vector() * 0.1 },
        },
        approach: Vec3::zeros(),
        friction,
        stiffness: 10.0 + 9.0 * noise.next(),
        force: Vec3::zeros(),
    }
}

#[test]
fn normal_forces_are_those_of_the_right_active_set() {
    for seed in 1..20 {
        let (mut case, weight) = (Case::new(seed, 5, 7, 0.0), 0.7);
        let count = case.constraints.len();
        // normal compliances N_cd = n_c·n_d W_cd, from the dense inverse
        let jacobian = DMatrix::from_fn(count, 30, |c, column| {
            let constraint = &case.constraints[c];
            let arms = constraint.arms().filter(|&(v, _)| v == column / 3);
            arms.map(|(_, w)| w).sum::<f64>() * constraint.plane.normal[column % 3]
        });
        let spread =
            DMatrix::from_fn(30, 30, |r, c| if r % 3 == c % 3 { case.inverse[(r / 3, c / 3)] } else { 0.0 });
        let compliance = &jacobian * spread * jacobian.transpose();
        let gaps = DVector::from_fn(count, |c, _| {
            case.constraints[c].gap(&case.constraints[c].relative_position(&case.free))
        });
        let softness = |c: usize| 1.0 / (weight * case.constraints[c].stiffness);
        // the one active set in which all forces push and all other gaps are open
        let reference = (0..1usize << count).find_map(|set| {
            let members: Vec<usize> = (0..count).filter(|c| set >> c & 1 == 1).collect();
            let system = DMatrix::from_fn(members.len(), members.len(), |i, j| {
                compliance[(members[i], members[j])] + if i == j { softness(members[i]) } else { 0.0 }
            });
            let right = DVector::from_fn(members.len(), |i, _| -gaps[members[i]]);
            let solved = if members.is_empty() { right } else { system.lu().solve(&right)? };
            let mut forces = DVector::zeros(count);
            members.iter().enumerate().for_each(|(i, &c)| forces[c] = solved[i]);
            let after = &gaps + &compliance * &forces;
            let fits = (0..count).all(|c| if set >> c & 1 == 1 { forces[c] >= 0.0 } else { after[c] >= 0.0 });
            fits.then_some(forces)
        });
        let reference = reference.expect("a positive definite problem has a solution");
        case.solve(ContactLaw::Linear, weight);
        for (constraint, expected) in case.constraints.iter().zip(reference.iter()) {
            let force = constraint.force.dot(&constraint.plane.normal) * weight;
            // sweeps end at 1e-6 of the largest force; what is left after slow ones is ten times that
            assert!((force - expected).abs() <= 1e-5 * reference.amax(), "seed {seed}: {force} {expected}");
        }
    }
}

#[test]
fn forces_obey_the_law_and_friction_the_cone() {
    let (mut slides, mut sticks) = (0, 0);
    for (seed, law) in (1..20).flat_map(|seed| [(seed, ContactLaw::Linear), (seed, ContactLaw::Cubic)]) {
        let friction = if seed % 2 == 0 { 0.4 } else { 1.2 };
        let (mut case, weight) = (Case::new(seed, 8, 6, friction), 0.25);
        let solver = case.solve(law, weight);
        let x = case.positions(weight);
        let largest = case.constraints.iter().map(|constraint| constraint.force.norm()).fold(0.0, f64::max);
        // a force that is off by 1e-5 of the largest moves the places by as much of their way
        let tolerance = 2e-5 * largest.max(1.0);
        for constraint in &case.constraints {
            let place = constraint.relative_position(&x);
            let normal = constraint.force.dot(&constraint.plane.normal);
            let friction = constraint.force - constraint.plane.normal * normal;
            assert!(
                (normal - law.force(constraint.stiffness, -constraint.gap(&place))).abs() < 20.0 * tolerance
            );
            assert!(friction.norm() <= constraint.friction * normal * (1.0 + 1e-9));
            let slip = constraint.slip(&constraint.relative_position(&case.start), &place);
            if friction.norm() < 0.999 * constraint.friction * normal {
                assert!(slip.norm() < tolerance, "seed {seed}: it sticks");
                sticks += 1;
            } else if normal > 0.0 && slip.norm() > 10.0 * tolerance {
                let opposed = friction.normalize().dot(&slip.normalize());
                assert!(opposed < -0.999, "seed {seed}: friction opposes the slip, {opposed}");
                slides += 1;
            }
        }
        for (number, constraint) in case.constraints.iter().enumerate() {
            let moved = constraint.relative_position(&x) - constraint.relative_position(&case.free);
            // rows are kept in single precision
            assert!((solver.displacement(number) - moved).norm() <= 1e-5 * moved.norm().max(1e-3));
        }
    }
    assert!(slides > 10 && sticks > 10, "both happen: {slides}, {sticks}");
}

#[test]
fn what_is_not_finite_or_has_no_compliance_makes_no_force() {
    let mut case = Case::new(5, 5, 4, 0.4);
    case.free[0] = Vec3::repeat(f64::NAN);
    let problem = Problem { law: ContactLaw::Linear, weight: 1.0, start: &case.start, free: &case.free };
    let mut solver = Solver::default();
    solver.begin(&case.constraints, &case.columns);
    let mut nothing = |batch: &mut [Vec<Vec3>]| {
        batch.iter_mut().for_each(|b| b.fill(Vec3::zeros()));
        Ok(())
    };
    solver.solve(&problem, &mut case.constraints, &[0, 1, 2, 3], &mut case.columns, &mut nothing).unwrap();
    assert!(case.constraints.iter().all(|constraint| constraint.force == Vec3::zeros()));
}
