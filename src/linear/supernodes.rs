//! Supernodes: runs of columns of the factor that share their rows and are stored as one dense panel.

use super::elimination::{Graph, NONE, column_counts, elimination_tree, inverse, postorder};
use super::sparse::running_sum;

/// Columns that a panel treats at once (the width of its tiles).
pub(super) const TILE: usize = 4;

/// What passing one row of a panel on to its parent and back costs, in entries of a panel.
const ROW_COST: u64 = 6;
/// What a panel costs however small it is, in entries of a panel.
const NODE_COST: u64 = 100;

/// One supernode: columns `first..first + width` of the factor.
#[derive(Debug, Clone)]
pub(super) struct Supernode {
    pub first: usize,
    pub width: usize,
    /// The rows below its own columns are `Supernodes::rows[rows_at..rows_at + below]`, ascending.
    pub rows_at: usize,
    pub below: usize,
    /// The supernode that owns the first of these rows, or [`NONE`].
    pub parent: u32,
}

impl Supernode {
    /// The length of a dense vector over its columns and the rows below.
    pub fn height(&self) -> usize {
        self.width + self.below
    }
}

/// The supernodes of a factor in postorder (children before parents, subtrees in runs).
#[derive(Debug)]
pub(super) struct Supernodes {
    /// The k-th column of the factor is row `order[k]` of the matrix.
    pub order: Vec<u32>,
    pub nodes: Vec<Supernode>,
    /// Rows below, of all supernodes: columns of the factor.
    pub rows: Vec<u32>,
    /// The same rows as positions in the parent's dense vector.
    pub places: Vec<u32>,
}

/// Columns in groups, and the parent group of each or [`NONE`]. Columns of a group ascend; a parent comes after its children.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub columns: Vec<Vec<u32>>,
    pub parent: Vec<u32>,
}

/// Which columns become one supernode, given the parents of the elimination tree and the entries of each column.
pub(super) type Grouping = fn(parent: &[u32], counts: &[u32]) -> Groups;

impl Supernodes {
    /// Finds the supernodes of the factor of `graph` eliminated in `order`, groups them further as `grouping` says, and
    /// renumbers the columns within the freedom the elimination tree leaves (the fill stays what it was).
    pub fn new(graph: &Graph, order: Vec<u32>, grouping: Grouping) -> Self {
        let compose = |order: Vec<u32>, inner: &[u32]| -> Vec<u32> {
            inner.iter().map(|&k| order[k as usize]).collect()
        };
        let post = postorder(&elimination_tree(&graph.permuted(&order)));
        let order = compose(order, &post);
        let permuted = graph.permuted(&order);
        let parent = elimination_tree(&permuted);
        let counts = column_counts(&permuted, &parent);
        let Groups { columns: groups, parent: group_parent } = grouping(&parent, &counts);

        let sequence = postorder(&group_parent);
        let regrouped: Vec<u32> =
            sequence.iter().flat_map(|&group| groups[group as usize].iter().copied()).collect();
        let order = compose(order, &regrouped);
        let widths: Vec<usize> = sequence.iter().map(|&group| groups[group as usize].len()).collect();
        let rank = inverse(&sequence);
        let parents = sequence.iter().map(|&group| match group_parent[group as usize] {
            NONE => NONE,
            parent => rank[parent as usize],
        });
        let starts = running_sum(&widths);
        let nodes = parents.zip(widths.iter().zip(&starts)).map(|(parent, (&width, &first))| Supernode {
            first,
            width,
            rows_at: 0,
            below: 0,
            parent,
        });
        let mut supernodes =
            Supernodes { nodes: nodes.collect(), rows: Vec::new(), places: Vec::new(), order };
        supernodes.find_rows(&graph.permuted(&supernodes.order));
        supernodes.find_places();
        supernodes
    }

    /// The rows below each supernode: those of A in its columns and those its children hand on.
    fn find_rows(&mut self, permuted: &Graph) {
        let mut children = vec![Vec::new(); self.nodes.len()];
        let mut marked_by = vec![NONE; permuted.len()];
        for s in 0..self.nodes.len() {
            let (first, width, parent) = (self.nodes[s].first, self.nodes[s].width, self.nodes[s].parent);
            let end = (first + width) as u32;
            let start = self.rows.len();
            let handed_on = children[s].iter().flat_map(|&child: &usize| {
                let child: &Supernode = &self.nodes[child];
                child.rows_at..child.rows_at + child.below
            });
            let handed_on: Vec<u32> = handed_on.map(|at| self.rows[at]).collect();
            let own = (first..first + width).flat_map(|column| permuted.of(column).iter().copied());
            for row in own.chain(handed_on) {
                if row >= end && std::mem::replace(&mut marked_by[row as usize], s as u32) != s as u32 {
                    self.rows.push(row);
                }
            }
            self.rows[start..].sort_unstable();
            self.nodes[s].rows_at = start;
            self.nodes[s].below = self.rows.len() - start;
            if parent != NONE {
                children[parent as usize].push(s);
            }
            children[s] = Vec::new();
        }
    }

    /// Where the rows of each supernode stand in the dense vector of its parent.
    fn find_places(&mut self) {
        self.places = vec![0; self.rows.len()];
        for node in self.nodes.iter().filter(|node| node.parent != NONE) {
            let parent = &self.nodes[node.parent as usize];
            let parent_rows = &self.rows[parent.rows_at..parent.rows_at + parent.below];
            let range = node.rows_at..node.rows_at + node.below;
            // Both lists ascend: one walk along the parent's finds all.
            let mut at = 0;
            for (place, &row) in self.places[range.clone()].iter_mut().zip(&self.rows[range]) {
                let row = row as usize;
                *place = if row < parent.first + parent.width {
                    (row - parent.first) as u32
                } else {
                    while (parent_rows[at] as usize) < row {
                        at += 1;
                    }
                    (parent.width + at) as u32
                };
            }
        }
    }

    /// The rows below a supernode.
    pub fn rows_of(&self, node: &Supernode) -> &[u32] {
        &self.rows[node.rows_at..node.rows_at + node.below]
    }

    /// The rows below a supernode as places in its parent's dense vector.
    pub fn places_of(&self, node: &Supernode) -> &[u32] {
        &self.places[node.rows_at..node.rows_at + node.below]
    }
}

/// What solving with a panel of `width` columns and `below` further rows costs, in entries read.
pub(super) fn panel_cost(width: usize, below: usize) -> u64 {
    let (width, below) = (width as u64, below as u64);
    let tile = TILE as u64;
    // Entries in the lower trapezoid, whole tiles on the diagonal.
    let entries = width * below + width * (width + tile) / 2;
    entries + ROW_COST * (below + width / 2) + NODE_COST
}

/// Columns that share their rows exactly, and the rows below each group.
pub(super) fn fundamental(parent: &[u32], counts: &[u32]) -> (Groups, Vec<usize>) {
    let n = parent.len();
    let mut columns: Vec<Vec<u32>> = Vec::new();
    let mut group_of = vec![NONE; n];
    for j in 0..n {
        let continues = j > 0 && parent[j - 1] == j as u32 && counts[j - 1] == counts[j] + 1;
        if !continues {
            columns.push(Vec::new());
        }
        group_of[j] = columns.len() as u32 - 1;
        columns[group_of[j] as usize].push(j as u32);
    }
    let below = columns.iter().map(|g| counts[*g.last().unwrap_or(&0) as usize] as usize - 1).collect();
    let parent_of = |group: &Vec<u32>| match group.last().map_or(NONE, |&last| parent[last as usize]) {
        NONE => NONE,
        column => group_of[column as usize],
    };
    let parent = columns.iter().map(parent_of).collect();
    (Groups { columns, parent }, below)
}

/// Groups the columns for the processor: first those that share their rows exactly, then every child that is cheaper
/// merged into its parent (with zeros stored) than on its own.
pub(super) fn amalgamate(parent: &[u32], counts: &[u32]) -> Groups {
    let (Groups { columns: mut groups, parent: mut group_parent }, below) = fundamental(parent, counts);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
    let mut merged = vec![false; groups.len()];
    for g in 0..groups.len() {
        let mut waiting = std::mem::take(&mut children[g]);
        let mut kept = Vec::new();
        while !waiting.is_empty() {
            // Children that would store the fewest zeros go first.
            let size = groups[g].len() + below[g];
            waiting.sort_by_key(|&c| (groups[c as usize].len() * (size - below[c as usize]), c));
            for c in std::mem::take(&mut waiting) {
                let child = c as usize;
                let (width, child_width) = (groups[g].len(), groups[child].len());
                let apart = panel_cost(width, below[g]) + panel_cost(child_width, below[child]);
                if panel_cost(width + child_width, below[g]) < apart {
                    let columns = std::mem::take(&mut groups[child]);
                    groups[g].extend(columns);
                    merged[child] = true;
                    waiting.append(&mut children[child]);
                } else {
                    kept.push(c);
                }
            }
        }
        groups[g].sort_unstable();
        kept.iter().for_each(|&c| group_parent[c as usize] = g as u32);
        children[g] = kept;
        if group_parent[g] != NONE {
            children[group_parent[g] as usize].push(g as u32);
        }
    }
    compact(groups, group_parent, &merged)
}

/// Drops the groups that were merged away.
pub(super) fn compact(groups: Vec<Vec<u32>>, group_parent: Vec<u32>, merged: &[bool]) -> Groups {
    let mut name = vec![NONE; groups.len()];
    let survivors = (0..groups.len()).filter(|&g| !merged[g]);
    survivors.clone().enumerate().for_each(|(k, g)| name[g] = k as u32);
    let parents = survivors.map(|g| match group_parent[g] {
        NONE => NONE,
        parent => name[parent as usize],
    });
    let parent = parents.collect();
    Groups { columns: groups.into_iter().filter(|columns| !columns.is_empty()).collect(), parent }
}
