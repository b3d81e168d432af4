//! The first basis: mass poured into the auction's pairs, then into the cheapest columns with room, as
//! a forest whose trees hang below an artificial root. It is feasible but for forbidden pairs.

use super::auction::Pairs;
use super::problem::Problem;
use super::scan;
use super::tree::{Hanging, Tree};

struct Arc {
    row: usize,
    column: usize,
    units: i64,
}

/// Every pour exhausts a row or a column, so the arcs form a forest, and each of its trees has at most
/// one node with mass to spare.
pub(super) struct Forest {
    arcs: Vec<Arc>,
    spare_supply: Vec<i64>,
    spare_demand: Vec<i64>,
    prices: Vec<f64>,
}

impl Forest {
    pub fn from_pairs(problem: &Problem, Pairs { pairs, prices }: Pairs) -> Self {
        let mut forest = Self {
            arcs: Vec::with_capacity(problem.rows() + problem.columns()),
            spare_supply: problem.supply.clone(),
            spare_demand: problem.demand.clone(),
            prices,
        };
        for (row, column) in pairs {
            forest.pour(row, column);
        }
        let mut open_prices: Vec<f64> = (forest.prices.iter().zip(&forest.spare_demand))
            .map(|(&price, &spare)| if spare > 0 { price } else { f64::INFINITY })
            .collect();
        for row in 0..problem.rows() {
            let costs = problem.cost_row(row);
            while forest.spare_supply[row] > 0 {
                let least = scan::minimum(costs, &open_prices);
                let column = scan::position_of(least, costs, &open_prices);
                let Some(column) = column.filter(|_| least < f64::INFINITY) else {
                    break;
                };
                forest.pour(row, column);
                if forest.spare_demand[column] == 0 {
                    open_prices[column] = f64::INFINITY;
                }
            }
        }
        forest
    }

    fn pour(&mut self, row: usize, column: usize) {
        let units = self.spare_supply[row].min(self.spare_demand[column]);
        if units > 0 {
            self.spare_supply[row] -= units;
            self.spare_demand[column] -= units;
            self.arcs.push(Arc { row, column, units });
        }
    }

    /// Hangs the trees below the root, each by its node with mass to spare if it has one.
    ///
    /// The root has no mass of its own. So as long as no column hangs below it, its arcs carry nothing
    /// and may cost anything: they keep the auction's prices. Columns that do hang there are short of
    /// mass, and pay `shortfall_cost` for it.
    pub fn to_tree(&self, problem: &Problem, shortfall_cost: f64) -> Tree {
        let rows = problem.rows();
        let root = rows + problem.columns();
        let neighbours = self.neighbours(rows, root);
        let mut order = Vec::with_capacity(root);
        let mut placed = vec![false; root];
        let short_columns = (0..problem.columns())
            .filter(|&column| self.spare_demand[column] > 0)
            .map(|column| (rows + column, self.spare_demand[column], -shortfall_cost));
        let (spare_rows, even_rows): (Vec<_>, Vec<_>) =
            (0..rows).partition(|&row| self.spare_supply[row] > 0);
        let tops = spare_rows.into_iter().chain(even_rows).map(|row| {
            let potential = neighbours[row].first().map_or(0.0, |&(node, _)| {
                problem.cost(row, node - rows) + self.prices[node - rows]
            });
            (row, self.spare_supply[row], potential)
        });
        let mut stack = Vec::new();
        for (top, units, potential) in short_columns.chain(tops) {
            if placed[top] {
                continue;
            }
            placed[top] = true;
            stack.push(Hanging { node: top, parent: root, units, potential });
            while let Some(hanging) = stack.pop() {
                for &(node, units) in &neighbours[hanging.node] {
                    if !placed[node] {
                        placed[node] = true;
                        stack.push(Hanging { node, parent: hanging.node, units, potential: 0.0 });
                    }
                }
                order.push(hanging);
            }
        }
        let mut tree = Tree::from_preorder(rows, problem.columns(), &order);
        tree.refresh_potentials(problem);
        tree
    }

    fn neighbours(&self, rows: usize, nodes: usize) -> Vec<Vec<(usize, i64)>> {
        let mut neighbours = vec![Vec::new(); nodes];
        for arc in &self.arcs {
            neighbours[arc.row].push((rows + arc.column, arc.units));
            neighbours[rows + arc.column].push((arc.row, arc.units));
        }
        neighbours
    }

    /// The auction's `−v` for each column.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// The largest price in size, which bounds the potentials beside the costs.
    pub fn largest_price(&self) -> f64 {
        self.prices.iter().fold(0.0, |largest, p| p.abs().max(largest))
    }
}
