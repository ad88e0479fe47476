//! The exact global step on the device: what it computes, what it costs, and what crosses to the device and back.

use crate::common::{Random, context, distance, simulate, simulate_on_gpu, size};
use crate::gpu_kernels::RULE;
use dashpot::Vec3;
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::contents::{contents, fronts, search, watched};
use dashpot::gpu::context::Context;
use dashpot::gpu::half_panels::{self, half_panel};
use dashpot::gpu::kernel::{Call, Id, Kernel};
use dashpot::gpu::layout::{IterationState, SLOTS};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use dashpot::linear::{Direction, Factor, FrontPanels, FrontPlan, LARGEST_BINDING, SparseMatrix, Symbolic};
use dashpot::model::Model;
use dashpot::setup::{self, build};
use std::sync::Arc;

/// A bar as `dashpot bench scale` has it.
pub fn bar(cells: [usize; 3]) -> String {
    let size = cells.map(|n| 0.025 * n as f64);
    format!(
        r#"
        time = {{ step = 0.0333333333, iterations = 10 }}
        integrator = {{ kind = "implicit-midpoint" }}
        damping = {{ model = "laplacian", stiffness = 1e-3 }}
        [[body]]
        name = "bar"
        mesh = {{ generate = "box", cells = {cells:?}, size = {size:?} }}
        material = {{ model = "arap", mu = 200000.0, density = 1000.0 }}
        [[body.attach]]
        select = {{ min = [-0.001, -1e3, -1e3], max = [0.001, 1e3, 1e3] }}
        "#
    )
}

const S: [usize; 3] = [30, 4, 4];
const M: [usize; 3] = [62, 8, 8];

fn model(text: &str) -> Model {
    build(&setup::load_text("bar", text, &[]).unwrap()).unwrap().model
}

fn metric(model: &Model) -> SparseMatrix {
    let held = model.attachment_stiffness();
    model.laplacian().unwrap().scaled_sum(900.0, &model.mass, 0.5, 0.5, &held)
}

/// A bar whose factor has three bands, so that fronts hand on to fronts, with its panels.
pub struct Fronts {
    contents: Contents,
    panels: FrontPanels<f32>,
    matrix: SparseMatrix,
}

impl Fronts {
    pub fn new() -> Self {
        Self::of(&model(&bar(M)))
    }

    fn of(model: &Model) -> Self {
        let matrix = metric(model);
        let plan = Arc::new(FrontPlan::new(&matrix, LARGEST_BINDING).unwrap());
        let mut all = contents(model, &model.laplacian().unwrap()).unwrap();
        fronts(&plan, &mut all);
        watched(&(0..model.vertex_count() as u32).step_by(3).collect::<Vec<_>>(), &mut all);
        search(RULE.history as usize, &mut all);
        all.set_small(Buffer::IterationRule, &[RULE]);
        Fronts { contents: all, panels: FrontPanels::new(&plan, &matrix).unwrap(), matrix }
    }

    /// Every call of one of the kernels, with what its buffers hold, all numbers about `size`.
    pub fn cases(&self, kernel: &Kernel, size: f64, seed: u64) -> Vec<(Contents, Call)> {
        let mut all = self.contents.clone();
        let mut random = Random::new(seed);
        let floats = [
            Buffer::Gradient,
            Buffer::FrontUpdates,
            Buffer::FrontSolution,
            Buffer::Iterate,
            Buffer::TargetOffset,
            Buffer::Correction,
            Buffer::Pairs,
        ];
        for buffer in floats {
            all.items_mut::<f32>(buffer)
                .iter_mut()
                .for_each(|number| *number = (random.number() * size) as f32);
        }
        let plan = self.panels.plan();
        let direction = match kernel.name {
            "solve_up" | "solve_up_half" => Direction::Up,
            "solve_down" | "solve_down_half" => Direction::Down,
            "measure_pairs" => {
                let case = |iterations: u32| {
                    let mut all = all.clone();
                    let state = IterationState { iterations, next_pair: 1, taken: 0.3, ..Default::default() };
                    all.set_small(Buffer::IterationState, &[state]);
                    (all, Call::default())
                };
                return vec![case(1), case(2)];
            }
            _ => return vec![(all, Call::default())],
        };
        let calls = plan.calls.iter().enumerate().filter(|(_, call)| call.direction == direction);
        let case = |(series, call): (usize, &dashpot::linear::FrontCall)| {
            let mut all = all.clone();
            match kernel.name.ends_with("_half") {
                true => all.set(Buffer::FrontPanels, &half_panel(&self.panels, call)),
                false => all.set(Buffer::FrontPanels, &self.panels.panel(call)),
            }
            (all, Call { series, tasks: call.tiles.len() as u32, ..Call::default() })
        };
        calls.map(case).collect()
    }
}

/// A⁻¹ g by the kernels, with panels in half or in single precision.
pub fn solve_on_device(context: &Arc<Context>, fronts: &Fronts, g: &[[f32; 3]], half: bool) -> Vec<[f32; 3]> {
    let mut all = fronts.contents.clone();
    all.set(Buffer::Gradient, g);
    let plan = fronts.panels.plan();
    let mut stream = Stream::new(context.clone(), &all, Library::BuiltIn).unwrap();
    let bytes = |call| if half { half_panels::bytes(call) } else { 4 * call.numbers as u64 };
    let sizes: Vec<u64> = plan.calls.iter().map(bytes).collect();
    stream.add_panels(&sizes).unwrap();
    for (k, call) in plan.calls.iter().enumerate() {
        match half {
            true => stream.write_panels(k, bytemuck::cast_slice(&half_panel(&fronts.panels, call))).unwrap(),
            false => stream.write_panels(k, bytemuck::cast_slice(&fronts.panels.panel(call))).unwrap(),
        }
    }
    for (k, call) in plan.calls.iter().enumerate() {
        let id = match (call.direction, half) {
            (Direction::Up, false) => Id::solve_up,
            (Direction::Down, false) => Id::solve_down,
            (Direction::Up, true) => Id::solve_up_half,
            (Direction::Down, true) => Id::solve_down_half,
        };
        let tasks = call.tiles.len() as u32;
        stream.call(id, Call { series: k, panels: k, tasks, ..Call::default() }).unwrap();
    }
    stream.submit().unwrap();
    assert_eq!(stream.usage().dispatches as usize, plan.calls.len());
    let solution = stream.read_items::<[f32; 3]>(Buffer::FrontSolution).unwrap();
    plan.position.iter().map(|&at| solution[at as usize]).collect()
}

const FOREST: &str = r#"
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [20, 7, 7], size = [2.0, 0.7, 0.7] }
    material = { model = "arap", mu = 1e5, density = 1000.0 }
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 5, segments = 8, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 0.01 }
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [30, 30], size = [1.0, 1.0] }
    material = { model = "arap", mu = 1e4, thickness = 1e-3, density = 800.0, bending = 1e-3 }
"#;

#[test]
fn the_device_solves_as_the_processor_does_and_gives_the_same_bits_twice() {
    let Some(context) = context() else { return };
    for (name, text) in [("S", bar(S)), ("M", bar(M)), ("forest", FOREST.to_string())] {
        let fronts = Fronts::of(&model(&text));
        let n = fronts.matrix.rows();
        let g: Vec<[f32; 3]> = (0..n).map(|i| [1.0, (i as f32).sin(), (i % 7) as f32 - 3.0]).collect();
        let factor = Factor::<f64>::new(&Symbolic::new(&fronts.matrix).unwrap(), &fronts.matrix).unwrap();
        let mut expected: Vec<[f64; 3]> = g.iter().map(|g| g.map(f64::from)).collect();
        factor.solve(&mut expected, &mut factor.scratch().unwrap());
        let largest = expected.iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
        let measured = half_panels::error_of_solve(&fronts.panels);
        // half precision: eleven binary digits are 2.4e-4 of each number, which go up and down in a sum
        for (half, least, most) in [(false, 0.0, 5e-7), (true, 1e-6, 5e-4)] {
            let found = solve_on_device(&context, &fronts, &g, half);
            let off = found.iter().flatten().zip(expected.iter().flatten());
            let off = off.fold(0.0, |a: f64, (x, y)| a.max((f64::from(*x) - y).abs())) / largest;
            println!(
                "{name}, half {half}: off by {off:e}, measured {measured:e}, {} dispatches",
                fronts.panels.plan().calls.len()
            );
            assert!((least..most).contains(&off), "{name}: off by {off:e}");
            assert_eq!(solve_on_device(&context, &fronts, &g, half), found, "{name}: the same bits");
        }
        // a random right-hand side cancels where this one does not
        assert!((1e-6..2e-3).contains(&measured), "{name}: {measured:e}");
    }
}

#[test]
fn a_frame_is_one_submission_of_about_a_hundred_dispatches() {
    let Some(context) = context() else { return };
    // ten iterations of three local dispatches, those of the solve and the correction, and 13 around them
    for (cells, solve) in [(S, 1), (M, 5)] {
        let mut simulation = simulate_on_gpu(&context, &bar(cells), &[]);
        simulation.frame().unwrap();
        let told = simulation.describe();
        let dispatches =
            if solve == 1 { "1 dispatch a solve".into() } else { format!("{solve} dispatches a solve") };
        assert!(told.contains("resident; Cholesky factor of ") && told.contains(&dispatches), "{told}");
        let before = simulation.device_use().unwrap();
        let frames = 3;
        (0..frames).for_each(|_| simulation.start_frame().unwrap());
        let used = simulation.device_use().unwrap().since(&before);
        println!("{cells:?}: {} dispatches a frame; {told}", used.dispatches / frames);
        assert_eq!(used.dispatches, frames * (10 * (4 + solve) + 13), "{cells:?}");
        assert!(used.dispatches <= 110 * frames);
        assert_eq!((used.submissions, used.uploaded, used.waits), (frames, 0, 0));
        assert_eq!(used.downloaded, frames * 4 * SLOTS as u64 * 7, "the report, and nothing else");
        simulation.rows(true).unwrap();
    }
}

/// Runs on the device and on the processor; how far apart they are, in sizes, and the device's description.
fn apart(context: &Arc<Context>, text: &str, settings: &[&str], frames: usize) -> (f64, String) {
    let mut device = simulate_on_gpu(context, text, settings);
    let mut host = simulate(text, settings);
    for _ in 0..frames {
        device.frame().unwrap();
        host.frame().unwrap();
    }
    let body = size(&host.model().initial_positions);
    (distance(device.positions(), host.positions()) / body, device.describe())
}

#[test]
fn both_stages_of_a_composite_step_have_panels_of_their_own() {
    let Some(context) = context() else { return };
    let settings = ["integrator.kind=bathe", "time.iterations=5"];
    let (off, told) = apart(&context, &bar([20, 4, 4]), &settings, 3);
    assert!(told.contains("two Cholesky factors of "), "{told}");
    assert!(off < 1e-6, "{off:e}");
}

#[test]
fn where_the_host_sees_the_steps_it_solves_them() {
    let Some(context) = context() else { return };
    let text = bar([10, 3, 3]);
    const HELD: &[&str] = &["conservation.method=cpd", "integrator.kind=implicit-midpoint"];
    let cases: [(&[&str], &str); 2] = [
        (&["time.tolerance=1e-3", "solver.global=hybrid"], "stops at a tolerance"),
        (HELD, "acts on the steps"),
    ];
    for (settings, reason) in cases {
        let (off, told) = apart(&context, &text, settings, 1);
        assert!(told.contains("hybrid, solved on the host") && told.contains(reason), "{told}");
        assert!(off < 1e-5, "{settings:?}: {off:e}");
    }
    let (off, told) = apart(&context, &text, &["solver.global=hybrid"], 2);
    assert!(told.contains("hybrid, solved on the host; "), "{told}");
    assert!(off < 1e-6, "{off:e}");
}

/// What is smaller than a workgroup, or not connected.
#[test]
fn the_smallest_bodies_are_solved_in_one_dispatch() {
    let Some(context) = context() else { return };
    let (off, told) = apart(&context, &bar([1, 1, 1]), &["time.iterations=3"], 2);
    assert!(told.contains("in 1 band, 1 dispatch a solve"), "{told}");
    assert!(off < 1e-6, "{off:e}");
    let mut simulation = simulate_on_gpu(&context, FOREST, &["time.iterations=3"]);
    let before: Vec<Vec3> = simulation.positions().to_vec();
    simulation.frame().unwrap();
    assert!(distance(simulation.positions(), &before) > 0.0);
}
