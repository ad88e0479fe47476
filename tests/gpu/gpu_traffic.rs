//! Bytes that kernels move, against what their twins touch and against the figures that the documentation names.

use crate::common::{self, Random};
use crate::gpu_exact::Fronts;
use crate::gpu_kernels::{SOLVING, random_state};
use dashpot::gpu::buffer::{Buffer, Contents, Kind};
use dashpot::gpu::kernel::{ALL, Call, Id, Kernel};
use dashpot::gpu::layout::{Sizes, Tet};
use dashpot::gpu::shader::{Library, Source};
use dashpot::gpu::stream::Stream;
use dashpot::gpu::traffic::{Traffic, accesses};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Items of a large buffer that are tried out, in the place of all of them: fewer in a stage of a solve, whose twin is slow, more
/// where few elements touch few of many vertices.
fn tried(id: Id, workgroups: u32) -> usize {
    match id {
        Id::look_at_iterate | Id::look_at_solution => 240,
        Id::solve_up | Id::solve_down => 12,
        _ if workgroups > 8 => 24,
        _ => 160,
    }
}

/// Bytes of a call by the table, buffers as long as these.
fn predicted(id: Id, all: &Contents, call: &Call) -> u64 {
    let (module, info) = Source::of(&Library::BuiltIn, id.kernel().file).unwrap().module().unwrap();
    let accesses = accesses(&module, &info, id.kernel().bindings.len());
    let sizes: Sizes = all.small(Buffer::Sizes, 0);
    Traffic::new(all).bytes(id, call, &sizes, &accesses, |buffer| all.bytes(call.at(buffer)).len() as u64)
}

/// The buffers of a kernel after its twin; `None` if the twin fails, which it does only if it follows a wrong index.
fn after(kernel: &Kernel, before: &Contents, call: &Call) -> Option<Contents> {
    let mut all = before.clone();
    catch_unwind(AssertUnwindSafe(|| (kernel.twin)(&mut all, call))).ok()?;
    Some(all)
}

/// Whether a twin reads item `k` of a buffer: whether anything becomes different if its words are those of other items.
fn reads(
    kernel: &Kernel,
    before: &Contents,
    expected: &Contents,
    call: &Call,
    buffer: Buffer,
    k: usize,
) -> bool {
    let words = buffer.described().stride / 4;
    let all = before.items::<u32>(buffer);
    let mut changed = before.clone();
    for at in k * words..(k + 1) * words {
        let mut others = (1..all.len() / words).map(|more| all[(at + more * words) % all.len()]);
        if let Some(other) = others.find(|other| *other != all[at]) {
            changed.items_mut::<u32>(buffer)[at] = other;
        }
    }
    let Some(found) = after(kernel, &changed, call) else { return true };
    kernel.bindings.iter().any(|&bound| {
        let own = if bound == buffer { k * words..(k + 1) * words } else { 0..0 };
        let [before, found, expected] = [&changed, &found, expected].map(|all| all.items::<u32>(bound));
        // a word of the item itself that is as before was not written, and says nothing
        (0..found.len()).any(|w| found[w] != expected[w] && !(own.contains(&w) && found[w] == before[w]))
    })
}

/// Bytes of a call by its twin: items whose words it changes, and items on which something depends.
fn touched(id: Id, all: &Contents, call: &Call) -> (f64, String) {
    let kernel = id.kernel();
    let workgroups = kernel.workgroups_of(&all.small(Buffer::Sizes, 0), call);
    let mut before = Contents::empty();
    kernel.bindings.iter().for_each(|buffer| before.set(*buffer, all.items::<u32>(*buffer)));
    let expected = after(kernel, &before, call).expect("a twin that runs");
    let mut random = Random::new(7);
    let (mut bytes, mut told) = (0.0, String::new());
    for &buffer in kernel.bindings {
        let stride = buffer.described().stride;
        if matches!(buffer.described().kind, Kind::Uniform | Kind::Series) {
            bytes += stride as f64;
            continue;
        }
        let (count, tried) = (before.count(buffer), tried(id, workgroups));
        let items =
            before.bytes(buffer).chunks_exact(stride).zip(expected.bytes(buffer).chunks_exact(stride));
        let written = items.filter(|(before, after)| before != after).count();
        let step = (count as f64 / tried as f64).max(1.0);
        let places = (0..count.min(tried)).map(|k| match count > tried {
            true => ((k as f64 + 0.5 + 0.5 * random.number()) * step) as usize % count,
            false => k,
        });
        let read = match buffer {
            // only the start of an iteration, which its end forgets; zeros that pad tiles, of which a twin knows nothing
            Buffer::Rotations | Buffer::FrontPanels => count as f64,
            _ => places.filter(|k| reads(kernel, &before, &expected, call, buffer, *k)).count() as f64 * step,
        };
        told += &format!("{buffer:?} {written} written, {read:.0} read of {count}; ");
        bytes += (written as f64 + read) * stride as f64;
    }
    (bytes, told)
}

/// Kernels whose traffic depends on what they find, or that touch a part of large buffers which their counts do not tell (a body's attachments,
/// the pairs learnt so far, vertices that no shape moves): the table is an upper bound of theirs.
const BOUNDED: [Id; 20] = [
    Id::add_example_solution,
    Id::aim_attachment,
    Id::aim_body,
    Id::apply_conservation,
    Id::choose_direction,
    Id::choose_step,
    Id::couple_examples,
    Id::end_iterations,
    Id::measure_along,
    Id::measure_excitation,
    Id::measure_pairs,
    Id::measure_pose,
    Id::reduce_momenta,
    Id::reduce_pose,
    Id::reduce_vibration,
    Id::settle_conservation,
    Id::solve_along,
    Id::solve_conservation,
    Id::take_step,
    Id::write_columns,
];

#[test]
fn every_kernel_moves_the_bytes_that_its_twin_touches() {
    let all = random_state();
    let fronts = Fronts::new();
    let mut faults = Vec::new();
    for &id in ALL {
        let kernel = id.kernel();
        let cases = match SOLVING.contains(&kernel.name) {
            true => fronts.cases(kernel, 1.0, 1),
            false => {
                let series = usize::from(kernel.bindings.contains(&Buffer::Inner));
                vec![(all.clone(), Call { series, ..Call::default() })]
            }
        };
        for (all, call) in cases {
            let (predicted, (touched, told)) = (predicted(id, &all, &call) as f64, touched(id, &all, &call));
            let ratio = predicted / touched;
            println!("{:28} {predicted:>10} of {touched:>10.0} bytes: {ratio:.3}", kernel.name);
            // as far off as the few items that are tried allow
            if ratio < 0.9 || ratio > 1.1 && !BOUNDED.contains(&id) {
                faults.push(format!(
                    "{}: {predicted} bytes by the table, {touched:.0} by its twin ({told}): see `Traffic::items`",
                    kernel.name
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The figures of docs/architecture.md, by hand: they change when a struct grows.
#[test]
fn the_kernels_of_an_iteration_move_the_bytes_that_are_documented() {
    let Some(context) = common::context() else { return };
    let all = random_state();
    let sizes: Sizes = all.small(Buffer::Sizes, 0);
    let [n, tets] = [u64::from(sizes.vertices), u64::from(sizes.tets)];
    let entries = all.count(Buffer::LaplacianEntries) as u64;
    let rows = all.count(Buffer::GatherRows) as u64;
    let mut stream = Stream::new(context, &all, Library::BuiltIn).unwrap();
    let uniforms = |kernel: Id| -> u64 {
        let bound = kernel.kernel().bindings.iter().map(|buffer| buffer.described());
        bound.filter(|b| matches!(b.kind, Kind::Uniform | Kind::Series)).map(|b| b.stride as u64).sum()
    };
    let vertices_of_tets = {
        let corners = all.items::<Tet>(Buffer::Tets).iter().flat_map(|tet| tet.vertices);
        corners.collect::<BTreeSet<u32>>().len() as u64
    };
    let iterations = Buffer::IterationState.described().stride as u64;
    let documented = [
        // ten numbers a tetrahedron, rounded up to a whole row
        (Id::project_tet, 96 * tets + 16 * (10 * tets).div_ceil(4) + 48 * vertices_of_tets + iterations),
        (Id::gather_gradient, 4 * rows + all.bytes(Buffer::Rows).len() as u64 + 84 * n + 4),
        (Id::chebyshev_update, 8 * entries + 84 * n + 4),
        (Id::advance, 192 * n),
    ];
    for (id, expected) in documented {
        stream.compile(id).unwrap();
        assert_eq!(stream.bytes_of(id, &Call::default()) - uniforms(id), expected, "{id:?}");
    }
}
