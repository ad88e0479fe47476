//! The methods of the global step, and going from one to another.

use super::*;

fn level(s: f64) -> MetricParams {
    MetricParams { factors: vec![s], active: Vec::new() }
}

/// A ball's metric at stiffness `s`, with one of stiffness `next` foreseen, and A⁻¹ g of some g.
fn solved(global: &mut Global<f64>, parts: Parts, s: f64, next: Option<f64>) -> Vec<[f64; 3]> {
    let as_given = Stiffness::as_given(parts.model);
    let stiffness = Stiffness { metric: level(s), next_metric: next.map(level), ..as_given };
    global.prepare(0, [900.0, 0.5, 0.5], &stiffness, parts).unwrap();
    let n = parts.model.vertex_count();
    let mut g: Vec<[f64; 3]> = (0..n).map(|i| [1.0, (i as f64).sin(), (i % 7) as f64]).collect();
    assert!(global.solve(&mut g));
    g
}

#[test]
fn a_metric_made_in_the_background_is_the_one_made_at_once() {
    let loaded = crate::setup::load("ball", &["body.0.mesh.cells=6".into()]).unwrap();
    let model = crate::setup::build(&loaded).unwrap().model;
    let laplacian = model.laplacian().unwrap();
    let parts = Parts { model: &model, laplacian: &laplacian, rest: 0 };
    for global in [GlobalSolver::Cholesky, GlobalSolver::Chebyshev] {
        let solver = Solver { global, ..Solver::default() };
        let at_once = |s: f64| solved(&mut Global::new(&solver), parts, s, None);
        let mut foreseeing = Global::new(&solver);
        // the third takes the memory of the first; the last was not foreseen, another was
        let steps = [(1.0, Some(1.2)), (1.2, Some(1.4)), (1.4, Some(1.7)), (1.7, Some(9.0)), (0.5, None)];
        for (k, (s, next)) in steps.into_iter().enumerate() {
            let metric = Metric { numbers: [900.0, 0.5, 0.5], level: level(s), rest: 0 };
            assert_eq!(foreseeing.stages[0].ahead.is_for(&metric), (1..4).contains(&k), "step {k}");
            assert_eq!(solved(&mut foreseeing, parts, s, next), at_once(s), "{global:?}, step {k}");
        }
    }
}

/// What a device solves with is made in its own form, for as long as it solves; the host has its factor afterwards.
#[test]
fn a_device_has_fronts_until_the_host_solves_or_they_do_not_fit() {
    let loaded = crate::setup::load("ball", &["body.0.mesh.cells=6".into()]).unwrap();
    let model = crate::setup::build(&loaded).unwrap().model;
    let laplacian = model.laplacian().unwrap();
    let parts = Parts { model: &model, laplacian: &laplacian, rest: 0 };
    let stiffness = Stiffness::as_given(&model);
    let device = Place::Device { largest_binding: 1 << 20 };
    let prepared =
        |global: &mut Global<f64>| global.prepare(0, [900.0, 0.5, 0.5], &stiffness, parts).unwrap();
    let of = |global| Global::<f64>::new(&Solver { global, ..Solver::default() });
    for asked in [GlobalSolver::Cholesky, GlobalSolver::Auto] {
        let mut global = of(asked);
        global.solve_at(device);
        prepared(&mut global);
        assert!(global.fronts().is_some() && global.chebyshev().is_none());
        assert!(global.describe().contains("in 1 band, 1 dispatch a solve"), "{}", global.describe());
        assert!(global.take_panels().is_some() && global.take_panels().is_none(), "once for every metric");
        assert!(!global.solve(&mut vec![[1.0; 3]; model.vertex_count()]), "the device solves");
        global.solve_at(Place::Host);
        prepared(&mut global);
        assert!(global.fronts().is_none() && global.solve(&mut vec![[1.0; 3]; model.vertex_count()]));
        global.solve_at(device);
        prepared(&mut global);
        assert!(global.take_panels().is_some());
        let may_go_on = asked == GlobalSolver::Auto;
        assert_eq!(global.refuse_fronts("the device is full".into()), may_go_on);
        prepared(&mut global);
        assert_eq!(global.chebyshev().is_some(), may_go_on);
        assert_eq!(global.describe().ends_with("the device is full"), may_go_on);
    }
    for (asked, has_factor) in [(GlobalSolver::Hybrid, true), (GlobalSolver::Chebyshev, false)] {
        let mut global = of(asked);
        global.solve_at(device);
        prepared(&mut global);
        assert!(global.fronts().is_none());
        assert_eq!(global.chebyshev().is_none(), has_factor);
    }
}
