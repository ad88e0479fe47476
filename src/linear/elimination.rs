//! The elimination tree of a Cholesky factor, and how many entries each of its columns has.

use super::sparse::running_sum;

/// No parent, no vertex, no supernode.
pub(super) const NONE: u32 = u32::MAX;

/// The graph of a symmetric matrix: each vertex with its neighbours, the diagonal left out.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub offsets: Vec<usize>,
    pub neighbours: Vec<u32>,
}

impl Graph {
    /// The graph of a pattern in compressed rows.
    pub fn new(offsets: &[usize], columns: &[u32]) -> Self {
        let n = offsets.len() - 1;
        let mut graph =
            Graph { offsets: Vec::with_capacity(n + 1), neighbours: Vec::with_capacity(columns.len()) };
        graph.offsets.push(0);
        for row in 0..n {
            let row_columns = &columns[offsets[row]..offsets[row + 1]];
            graph.neighbours.extend(row_columns.iter().filter(|&&column| column as usize != row));
            graph.offsets.push(graph.neighbours.len());
        }
        graph
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn of(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    /// The part of the graph that `vertices` (a union of connected components) span, vertex `vertices[k]` renamed k.
    /// `renamed` is a map of all vertices, filled for `vertices`.
    pub fn restricted(&self, vertices: &[u32], renamed: &[u32]) -> Graph {
        let sizes: Vec<usize> = vertices.iter().map(|&v| self.of(v as usize).len()).collect();
        let offsets = running_sum(&sizes);
        let mut neighbours = Vec::with_capacity(offsets[vertices.len()]);
        for &v in vertices {
            neighbours.extend(self.of(v as usize).iter().map(|&w| renamed[w as usize]));
        }
        Graph { offsets, neighbours }
    }

    /// The same graph with vertex `order[k]` renamed k.
    pub fn permuted(&self, order: &[u32]) -> Graph {
        self.restricted(order, &inverse(order))
    }
}

/// The inverse of a permutation.
pub(super) fn inverse(order: &[u32]) -> Vec<u32> {
    let mut position = vec![NONE; order.len()];
    for (k, &v) in order.iter().enumerate() {
        position[v as usize] = k as u32;
    }
    position
}

/// The parent of each column in the elimination tree: the row of its first entry below the diagonal, or [`NONE`].
pub(super) fn elimination_tree(graph: &Graph) -> Vec<u32> {
    let n = graph.len();
    let mut parent = vec![NONE; n];
    // Shortcut towards the root, so that a path is climbed in full only once.
    let mut shortcut = vec![NONE; n];
    for row in 0..n as u32 {
        for &column in graph.of(row as usize).iter().filter(|&&column| column < row) {
            let mut node = column;
            while node != NONE && node != row {
                let next = std::mem::replace(&mut shortcut[node as usize], row);
                if next == NONE {
                    parent[node as usize] = row;
                }
                node = next;
            }
        }
    }
    parent
}

/// The nodes of a forest, children (ascending) before their parents, each subtree in one run. No recursion: trees may be deep.
pub(super) fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut first_child, mut next_sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut roots = Vec::new();
    for node in (0..n).rev() {
        match parent[node] {
            NONE => roots.push(node as u32),
            p => next_sibling[node] = std::mem::replace(&mut first_child[p as usize], node as u32),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut path = Vec::new();
    while let Some(root) = roots.pop() {
        path.push(root);
        while let Some(&node) = path.last() {
            match std::mem::replace(&mut first_child[node as usize], NONE) {
                NONE => {
                    order.push(node);
                    path.pop();
                    // The next sibling takes this node's place as the child that is still to be visited.
                    if let Some(&above) = path.last() {
                        first_child[above as usize] = next_sibling[node as usize];
                    }
                }
                child => path.push(child),
            }
        }
    }
    order
}

/// The number of entries in each column of the factor, diagonal included, for a graph numbered in postorder of its tree
/// (the skeleton-leaf count of Gilbert, Ng and Peyton: almost linear in the entries of A, not of the factor).
pub(super) fn column_counts(graph: &Graph, parent: &[u32]) -> Vec<u32> {
    let n = graph.len();
    // In postorder the subtree of j is the run first_descendant[j]..=j.
    let mut first_descendant: Vec<u32> = (0..n as u32).collect();
    let mut delta: Vec<i64> = vec![1; n];
    for j in 0..n {
        if parent[j] != NONE {
            let p = parent[j] as usize;
            first_descendant[p] = first_descendant[p].min(first_descendant[j]);
            delta[p] = 0;
        }
    }
    let mut last_leaf = vec![NONE; n];
    // Union of finished subtrees, pointing at the root of each.
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    for j in 0..n {
        if parent[j] != NONE {
            delta[parent[j] as usize] -= 1;
        }
        for &row in graph.of(j).iter().filter(|&&row| row as usize > j) {
            let previous = last_leaf[row as usize];
            // j is a leaf of the row's subtree unless an earlier leaf lies below it.
            if previous != NONE && previous >= first_descendant[j] {
                continue;
            }
            delta[j] += 1;
            if previous != NONE {
                delta[find(&mut ancestor, previous) as usize] -= 1;
            }
            last_leaf[row as usize] = j as u32;
        }
        if parent[j] != NONE {
            ancestor[j] = parent[j];
        }
    }
    for j in 0..n {
        if parent[j] != NONE {
            delta[parent[j] as usize] += delta[j];
        }
    }
    delta.into_iter().map(|count| count as u32).collect()
}

fn find(ancestor: &mut [u32], node: u32) -> u32 {
    let mut root = node;
    while ancestor[root as usize] != root {
        root = ancestor[root as usize];
    }
    let mut node = node;
    while node != root {
        node = std::mem::replace(&mut ancestor[node as usize], root);
    }
    root
}

/// The number of entries of the Cholesky factor when the graph is eliminated in the given order.
pub(super) fn fill(graph: &Graph, order: &[u32]) -> u64 {
    let graph = graph.permuted(order);
    let post = postorder(&elimination_tree(&graph));
    let graph = graph.permuted(&post);
    let parent = elimination_tree(&graph);
    column_counts(&graph, &parent).into_iter().map(u64::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Elimination played on sets of neighbours: slow, obvious.
    fn counts_by_elimination(graph: &Graph) -> Vec<u32> {
        let n = graph.len();
        let mut below: Vec<BTreeSet<u32>> = (0..n)
            .map(|j| graph.of(j).iter().copied().filter(|&row| row as usize > j).collect::<BTreeSet<u32>>())
            .collect();
        for j in 0..n {
            let rows = below[j].clone();
            if let Some(&parent) = rows.first() {
                below[parent as usize].extend(rows.iter().filter(|&&row| row > parent));
            }
        }
        below.iter().map(|rows| rows.len() as u32 + 1).collect()
    }

    proptest! {
        #[test]
        fn column_counts_match_the_elimination_game(
            n in 1usize..40, edges in prop::collection::vec((0u32..40, 0u32..40), 0..90),
        ) {
            let mut sets = vec![BTreeSet::new(); n];
            for (a, b) in edges.into_iter().map(|(a, b)| (a % n as u32, b % n as u32)).filter(|(a, b)| a != b) {
                sets[a as usize].insert(b);
                sets[b as usize].insert(a);
            }
            let offsets = running_sum(&sets.iter().map(BTreeSet::len).collect::<Vec<_>>());
            let graph = Graph { offsets, neighbours: sets.into_iter().flatten().collect() };
            let post = postorder(&elimination_tree(&graph));
            let graph = graph.permuted(&post);
            let parent = elimination_tree(&graph);
            prop_assert!(parent.iter().enumerate().all(|(j, &p)| p == NONE || p as usize > j));
            prop_assert_eq!(column_counts(&graph, &parent), counts_by_elimination(&graph));
        }
    }

    #[test]
    fn a_path_of_a_million_nodes_is_walked_without_recursion() {
        let n = 1_000_000u32;
        let parent: Vec<u32> = (1..n).chain([NONE]).collect();
        assert!(postorder(&parent).into_iter().eq(0..n));
    }
}
