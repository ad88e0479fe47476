//! The order of elimination that keeps the factor sparse.
//!
//! Each connected component is ordered on its own. Large ones by METIS nested dissection, whose tree is also wide and
//! balanced, which the parallel solve lives on; small ones, and those where it leaves less fill (strands, trees), by AMD.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::elimination::{Graph, NONE, fill};
use crate::error::{Result, RunError};

/// Below this many vertices a component goes to AMD unasked: there is nothing to dissect.
const DISSECTION_VERTICES: usize = 256;
/// Up to this many vertices both orderings are made and compared. Above, the time of the second begins to show, and on
/// meshes of that size AMD leaves a third more fill.
const COMPARED_VERTICES: usize = 50_000;

/// A fill-reducing order: the k-th vertex to eliminate is `order[k]`. The same graph always gets the same order.
pub(super) fn fill_reducing(graph: &Graph) -> Result<Vec<u32>> {
    let components = connected_components(graph);
    let mut renamed = vec![NONE; graph.len()];
    let mut order = Vec::with_capacity(graph.len());
    let (small, large): (Vec<_>, Vec<_>) =
        components.into_iter().partition(|c| c.len() < DISSECTION_VERTICES);
    // All small components at once: AMD does not mix them, and one call is cheaper than thousands.
    let small: Vec<u32> = small.into_iter().flatten().collect();
    for (vertices, dissect) in
        std::iter::once((small, false)).chain(large.into_iter().map(|vertices| (vertices, true)))
    {
        for (name, &vertex) in vertices.iter().enumerate() {
            renamed[vertex as usize] = name as u32;
        }
        let part = graph.restricted(&vertices, &renamed);
        let local = if dissect { best_order(&part)? } else { minimum_degree(&part)? };
        order.extend(local.into_iter().map(|name| vertices[name as usize]));
    }
    Ok(order)
}

/// The vertices of each connected component, ascending by their first vertex.
fn connected_components(graph: &Graph) -> Vec<Vec<u32>> {
    let mut seen = vec![false; graph.len()];
    let mut components = Vec::new();
    for start in 0..graph.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut vertices = vec![start as u32];
        let mut done = 0;
        while done < vertices.len() {
            for &next in graph.of(vertices[done] as usize) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    vertices.push(next);
                }
            }
            done += 1;
        }
        vertices.sort_unstable();
        components.push(vertices);
    }
    components
}

fn best_order(graph: &Graph) -> Result<Vec<u32>> {
    let Some(dissected) = nested_dissection(graph) else { return minimum_degree(graph) };
    if graph.len() <= COMPARED_VERTICES {
        let by_degree = minimum_degree(graph)?;
        // Dissection may leave a tenth more fill: its balanced tree is worth that to the second thread.
        if fill(graph, &by_degree) * 10 < fill(graph, &dissected) * 9 {
            return Ok(by_degree);
        }
    }
    Ok(dissected)
}

/// Approximate minimum degree, by faer.
pub(super) fn minimum_degree(graph: &Graph) -> Result<Vec<u32>> {
    let n = graph.len();
    let no_memory = || RunError::Factorisation("not enough memory for its ordering".into());
    let offsets: Vec<u32> = graph.offsets.iter().map(|&offset| offset as u32).collect();
    let pattern = SymbolicSparseColMatRef::new_unsorted_checked(n, n, &offsets, None, &graph.neighbours);
    let scratch = amd::order_maybe_unsorted_scratch::<u32>(n, graph.neighbours.len());
    let mut memory = MemBuffer::try_new(scratch).map_err(|_| no_memory())?;
    let (mut order, mut position) = (vec![0u32; n], vec![0u32; n]);
    let stack = MemStack::new(&mut memory);
    amd::order_maybe_unsorted(&mut order, &mut position, pattern, amd::Control::default(), stack)
        .map_err(|_| no_memory())?;
    Ok(order)
}

/// Nested dissection by METIS; `None` when METIS cannot (it is not built in, out of memory, too many edges for it).
#[cfg(feature = "metis")]
fn nested_dissection(graph: &Graph) -> Option<Vec<u32>> {
    use std::sync::Mutex;
    /// METIS draws from the C library's one generator: two orderings at a time would shuffle each other's numbers.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    /// Any number will do as long as it stays the same.
    const SEED: i32 = 1;

    let mut vertices = i32::try_from(graph.len()).ok()?;
    i32::try_from(graph.neighbours.len()).ok()?;
    let mut offsets: Vec<i32> = graph.offsets.iter().map(|&offset| offset as i32).collect();
    let mut neighbours: Vec<i32> = graph.neighbours.iter().map(|&vertex| vertex as i32).collect();
    let (mut order, mut position) = (vec![0i32; graph.len()], vec![0i32; graph.len()]);
    let mut options = [0i32; metis_sys::METIS_NOPTIONS as usize];
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: the arrays have the lengths METIS documents (n + 1 offsets, the last of them the number of neighbours,
    // n for both permutations, METIS_NOPTIONS options), live through the call, and every neighbour is below n.
    // While it runs METIS catches SIGTERM and SIGABRT for the whole process: a run killed in these milliseconds may crash
    // instead of ending, which loses nothing, since nothing has been written yet.
    let outcome = unsafe {
        metis_sys::METIS_SetDefaultOptions(options.as_mut_ptr());
        options[metis_sys::moptions_et_METIS_OPTION_SEED as usize] = SEED;
        metis_sys::METIS_NodeND(
            &mut vertices,
            offsets.as_mut_ptr(),
            neighbours.as_mut_ptr(),
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            order.as_mut_ptr(),
            position.as_mut_ptr(),
        )
    };
    let order: Vec<u32> = order.into_iter().map(|vertex| vertex as u32).collect();
    (outcome == metis_sys::rstatus_et_METIS_OK && is_permutation(&order)).then_some(order)
}

#[cfg(not(feature = "metis"))]
fn nested_dissection(_graph: &Graph) -> Option<Vec<u32>> {
    None
}

/// Foreign code is checked before it is trusted with indices.
#[cfg(feature = "metis")]
fn is_permutation(order: &[u32]) -> bool {
    let mut seen = vec![false; order.len()];
    order.iter().all(|&v| seen.get_mut(v as usize).is_some_and(|seen| !std::mem::replace(seen, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(side: usize) -> Graph {
        let mut graph = Graph { offsets: vec![0], neighbours: Vec::new() };
        for i in 0..side * side {
            let (x, y) = (i % side, i / side);
            graph.neighbours.extend((y > 0).then(|| (i - side) as u32));
            graph.neighbours.extend((x > 0).then(|| (i - 1) as u32));
            graph.neighbours.extend((x + 1 < side).then(|| (i + 1) as u32));
            graph.neighbours.extend((y + 1 < side).then(|| (i + side) as u32));
            graph.offsets.push(graph.neighbours.len());
        }
        graph
    }

    #[test]
    fn the_order_is_a_permutation_with_less_fill_than_none_and_repeats_itself() {
        let graph = grid(40);
        let order = fill_reducing(&graph).unwrap();
        assert!(super::super::elimination::inverse(&order).iter().all(|&position| position != NONE));
        let natural: Vec<u32> = (0..1600).collect();
        assert!(fill(&graph, &order) * 2 < fill(&graph, &natural));
        let again: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| fill_reducing(&graph).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(again.iter().all(|other| *other == order));
    }
}
