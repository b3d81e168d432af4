//! The spanning tree of a basis: rows, then columns, then an artificial root, threaded in preorder. It
//! keeps flows and potentials through a pivot; which pair enters the basis is decided by `simplex`.
//!
//! The tree stays strongly feasible: an arc without flow points to the root. As all arcs lead from a
//! row to a column, the arc above a column always carries flow.

use super::problem::Problem;

/// A node with the arc that it hangs by.
pub(super) struct Hanging {
    pub node: usize,
    pub parent: usize,
    pub units: i64,
    /// Of use only below the root; elsewhere costs determine it.
    pub potential: f64,
}

/// Potentials are `u` for rows and `−v` for columns: so a pivot shifts those of the subtree that it
/// moves by one and the same amount, and a reduced cost is `C − u + (−v)`.
pub(super) struct Tree {
    rows: usize,
    root: usize,
    parent: Vec<u32>,
    /// Nodes of the subtree below a node, itself included.
    size: Vec<u32>,
    /// Preorder neighbours, closed to a circle by the root.
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The end, in preorder, of the subtree below a node. Not kept for the root.
    last: Vec<u32>,
    /// Units on the arc between a node and its parent.
    flow: Vec<i64>,
    potential: Vec<f64>,
}

/// What the cycle that an entering pair closes says about the pivot.
struct Cycle {
    join: usize,
    units: i64,
    /// The arc above this node leaves the basis.
    leaving: usize,
    leaves_on_row_side: bool,
}

impl Tree {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2³² nodes would need a cost matrix of 10¹⁹ entries"
    )]
    pub fn from_preorder(rows: usize, columns: usize, order: &[Hanging]) -> Self {
        let root = rows + columns;
        let mut tree = Self {
            rows,
            root,
            parent: vec![root as u32; root + 1],
            size: vec![1; root + 1],
            next: vec![0; root + 1],
            previous: vec![0; root + 1],
            last: vec![0; root + 1],
            flow: vec![0; root + 1],
            potential: vec![0.0; root + 1],
        };
        let mut before = root as u32;
        for hanging in order {
            tree.parent[hanging.node] = hanging.parent as u32;
            tree.flow[hanging.node] = hanging.units;
            tree.potential[hanging.node] = hanging.potential;
            tree.link(before, hanging.node as u32);
            before = hanging.node as u32;
        }
        tree.link(before, root as u32);
        for (place, hanging) in order.iter().enumerate().rev() {
            let size = tree.size[hanging.node];
            tree.size[hanging.parent] += size;
            tree.last[hanging.node] = order[place + size as usize - 1].node as u32;
        }
        tree
    }

    pub fn row_potentials(&self) -> &[f64] {
        &self.potential[..self.rows]
    }

    pub fn column_potentials(&self) -> &[f64] {
        &self.potential[self.rows..self.root]
    }

    /// Row, column and units of the arcs between real nodes.
    pub fn arcs(&self) -> impl Iterator<Item = (usize, usize, i64)> {
        (0..self.root).filter_map(|node| {
            let parent = self.parent[node] as usize;
            let (row, column) = (node.min(parent), node.max(parent) - self.rows);
            (parent != self.root).then_some((row, column, self.flow[node]))
        })
    }

    /// Units that columns draw from the root, because no row can send them.
    pub fn shortfall(&self) -> i64 {
        (self.rows..self.root)
            .filter(|&node| self.parent[node] as usize == self.root)
            .map(|node| self.flow[node])
            .sum()
    }

    /// Writes off a shortfall that is nothing but rounding: lets the short columns' trees hang by rows,
    /// whose arcs to the root need no flow. Says no, and stops, where a node lacks more than it gets.
    pub fn write_off_shortfall(&mut self, problem: &Problem) -> bool {
        for row in 0..self.rows {
            if self.parent[row] as usize == self.root {
                if self.flow[row] > problem.supply[row] / 2 {
                    return false;
                }
                self.flow[row] = 0;
            }
        }
        for column in self.rows..self.root {
            if self.parent[column] as usize != self.root {
                continue;
            }
            let suppliers = (0..self.rows).filter(|&row| self.parent[row] as usize == column);
            let supplier = suppliers.max_by_key(|&row| self.flow[row]);
            let Some(supplier) =
                supplier.filter(|_| self.flow[column] <= problem.demand[column - self.rows] / 2)
            else {
                return false;
            };
            let cycle =
                Cycle { join: self.root, units: 0, leaving: column, leaves_on_row_side: false };
            self.rehang(supplier, self.root, &cycle);
            self.potential[supplier] = 0.0;
        }
        true
    }

    /// Computes all potentials anew from those below the root, without the rounding of past pivots.
    pub fn refresh_potentials(&mut self, problem: &Problem) {
        let mut node = self.next[self.root] as usize;
        while node != self.root {
            let parent = self.parent[node] as usize;
            if parent != self.root {
                self.potential[node] = if node < self.rows {
                    self.potential[parent] + problem.cost(node, parent - self.rows)
                } else {
                    self.potential[parent] - problem.cost(parent, node - self.rows)
                };
            }
            node = self.next[node] as usize;
        }
    }

    /// Brings the pair into the basis, with as much flow as its cycle allows.
    pub fn pivot(&mut self, row: usize, column: usize, reduced_cost: f64) {
        let column = self.rows + column;
        let cycle = self.close_cycle(row, column);
        if cycle.units > 0 {
            self.push(row, cycle.join, -cycle.units);
            self.push(column, cycle.join, cycle.units);
        }
        let (moved, attached, shift) = if cycle.leaves_on_row_side {
            (row, column, reduced_cost)
        } else {
            (column, row, -reduced_cost)
        };
        self.rehang(moved, attached, &cycle);
        let mut node = moved;
        for _ in 0..self.size[moved] {
            self.potential[node] += shift;
            node = self.next[node] as usize;
        }
    }

    /// Flow along the pair must go back through the tree: it lowers the arcs above rows on the row's
    /// side and above columns on the column's side. Of the arcs that block, the last one in the
    /// direction of the flow from the join leaves: this rule keeps the tree strongly feasible.
    fn close_cycle(&self, row: usize, column: usize) -> Cycle {
        let (mut row_side, mut column_side) = (row, column);
        let (mut row_leaving, mut column_leaving) = (row, column);
        let (mut row_units, mut column_units) = (i64::MAX, i64::MAX);
        while row_side != column_side {
            // The smaller subtree cannot contain the other node.
            if self.size[row_side] < self.size[column_side] {
                if row_side < self.rows && self.flow[row_side] < row_units {
                    row_units = self.flow[row_side];
                    row_leaving = row_side;
                }
                row_side = self.parent[row_side] as usize;
            } else {
                if column_side >= self.rows && self.flow[column_side] <= column_units {
                    column_units = self.flow[column_side];
                    column_leaving = column_side;
                }
                column_side = self.parent[column_side] as usize;
            }
        }
        let leaves_on_row_side = row_units < column_units;
        Cycle {
            join: row_side,
            units: row_units.min(column_units),
            leaving: if leaves_on_row_side { row_leaving } else { column_leaving },
            leaves_on_row_side,
        }
    }

    /// Adds `units` to the arcs above rows, and takes them from those above columns.
    fn push(&mut self, from: usize, join: usize, units: i64) {
        let mut node = from;
        while node != join {
            self.flow[node] += if node < self.rows { units } else { -units };
            node = self.parent[node] as usize;
        }
    }

    /// Cuts off the subtree below the leaving arc, and hangs it by `moved` below `attached`.
    fn rehang(&mut self, moved: usize, attached: usize, cycle: &Cycle) {
        let size = self.size[cycle.leaving];
        self.cut(cycle.leaving, cycle.join);
        let end = self.reroot(moved, cycle.leaving);

        self.parent[moved] = id(attached);
        self.flow[moved] = cycle.units;
        self.size[moved] = size;
        let after = self.next[attached];
        self.link(id(attached), id(moved));
        self.link(end, after);
        let mut node = attached;
        while node != cycle.join {
            self.size[node] += size;
            node = self.parent[node] as usize;
        }
        node = attached;
        while node != self.root && self.last[node] as usize == attached {
            self.last[node] = end;
            node = self.parent[node] as usize;
        }
    }

    /// Takes the subtree of `top` out of the thread, sizes and ends of the rest.
    fn cut(&mut self, top: usize, join: usize) {
        let (size, end, before) = (self.size[top], self.last[top], self.previous[top]);
        self.link(before, self.next[end as usize]);
        let mut node = self.parent[top] as usize;
        while node != join {
            self.size[node] -= size;
            node = self.parent[node] as usize;
        }
        node = self.parent[top] as usize;
        while node != self.root && self.last[node] == end {
            self.last[node] = before;
            node = self.parent[node] as usize;
        }
    }

    /// Turns the arcs between `new_top` and `old_top` around; returns the end of the new thread.
    ///
    /// Each node of that path becomes the last child of the one below it: the thread then is the old
    /// one of `new_top`, followed, going up, by what each node had besides the branch just left.
    fn reroot(&mut self, new_top: usize, old_top: usize) -> u32 {
        let size = self.size[old_top];
        let mut node = new_top;
        let mut parent = self.parent[node] as usize;
        let mut branch_size = self.size[node];
        let mut branch_flow = self.flow[node];
        let mut branch_before = self.previous[node];
        let mut branch_end = self.last[node];
        let mut branch_after = self.next[branch_end as usize];
        let mut end = branch_end;
        while node != old_top {
            let parent_before = self.previous[parent];
            let parent_end = self.last[parent];
            // The links of a shared end have been overwritten already.
            let parent_after = if parent_end == branch_end {
                branch_after
            } else {
                self.next[parent_end as usize]
            };
            self.link(end, id(parent));
            if parent_end == branch_end {
                end = branch_before;
            } else {
                self.link(branch_before, branch_after);
                end = parent_end;
            }
            let grandparent = self.parent[parent] as usize;
            self.parent[parent] = id(node);
            branch_flow = std::mem::replace(&mut self.flow[parent], branch_flow);
            branch_size = std::mem::replace(&mut self.size[parent], size - branch_size);
            (branch_before, branch_end, branch_after) = (parent_before, parent_end, parent_after);
            (node, parent) = (parent, grandparent);
        }
        while node != new_top {
            self.last[node] = end;
            node = self.parent[node] as usize;
        }
        self.last[new_top] = end;
        end
    }

    fn link(&mut self, before: u32, after: u32) {
        self.next[before as usize] = after;
        self.previous[after as usize] = before;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "nodes come from the u32 arrays of the tree")]
fn id(node: usize) -> u32 {
    node as u32
}
