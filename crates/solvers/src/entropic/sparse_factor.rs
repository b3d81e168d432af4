//! A sparse Cholesky factor of nearly the curvature H = diag(r) − WᵀW, for a kernel that is kept as a list.
//! Only the large entries of each row of W link samples; the diagonal is that of H, so that the factor is of an
//! M-matrix between H and 2 diag(H). It preconditions conjugate gradients, which see the whole of H: see `curvature`.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::kernel::Kernel;

/// Entries below this share of the largest of their row link nothing; in short rows few more do any harm.
const WEAK_LINK: f64 = 1e-3;
const NEGLIGIBLE_LINK: f64 = 1e-9;
const SHORT_ROW: usize = 8;
/// With more links than this share of all pairs a factor would fill up, whatever the order.
const MOST_LINKS: f64 = 1.0 / 40.0;
/// A sparse factor with more than this share of the entries of a dense one is slower than it.
const LARGEST_FILL: f64 = 0.15;

#[derive(Default)]
pub(super) struct SparseFactor {
    symbolic: Option<SymbolicCholesky<u32>>,
    values: Vec<f64>,
    scratch: Option<MemBuffer>,
    links: Links,
}

/// The large entries of W by rows and by columns, and the lower triangle of the matrix that they make.
#[derive(Default)]
struct Links {
    row_starts: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
    column_starts: Vec<u32>,
    /// For each column, where in the lists by rows its entries are, and where those rows end.
    places: Vec<(u32, u32)>,
    matrix_starts: Vec<u32>,
    matrix_rows: Vec<u32>,
    matrix_values: Vec<f64>,
    diagonal: Vec<f64>,
    sums: Vec<f64>,
    touched: Vec<u32>,
    weakest: f64,
}

impl SparseFactor {
    /// Factors the linked part of H + damping · diag(masses) at the kernel's current plan; false when that is
    /// numerically singular or would fill up.
    pub(super) fn factor(&mut self, kernel: &mut Kernel, masses: &[f64], damping: f64) -> bool {
        kernel.absorb_scaling();
        let inner = masses.len();
        self.links.select(kernel, masses, damping);
        let pairs = (inner * kernel.outer_scaling.len()) as f64;
        if self.links.columns.len() as f64 > MOST_LINKS * pairs {
            return false;
        }
        self.links.assemble();
        let Links { matrix_starts, matrix_rows, matrix_values, .. } = &self.links;
        let pattern =
            SymbolicSparseColMatRef::new_checked(inner, inner, matrix_starts, None, matrix_rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        );
        let Ok(symbolic) = symbolic else { return false };
        if symbolic.len_val() as f64 > LARGEST_FILL * 0.5 * (inner * inner) as f64 {
            return false;
        }
        self.values.clear();
        self.values.resize(symbolic.len_val(), 0.0);
        let mut scratch = MemBuffer::new(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default()),
        );
        let is_factored = symbolic
            .factorize_numeric_llt(
                &mut self.values,
                SparseColMatRef::new(pattern, matrix_values),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut scratch),
                Spec::default(),
            )
            .is_ok();
        self.scratch = Some(MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
        self.symbolic = is_factored.then_some(symbolic);
        is_factored
    }

    /// Solves with the factor in place.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let (Some(symbolic), Some(scratch)) = (&self.symbolic, &mut self.scratch) else { return };
        let inner = x.len();
        LltRef::new(symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, inner, 1),
            Par::Seq,
            MemStack::new(scratch),
        );
    }
}

impl Links {
    /// Lists the large entries, and sums the diagonal of H over all of them.
    fn select(&mut self, kernel: &Kernel, masses: &[f64], damping: f64) {
        let listed = if kernel.is_sparse { kernel.columns.len() } else { kernel.values.len() };
        self.weakest = if listed < SHORT_ROW * kernel.outer_scaling.len() {
            NEGLIGIBLE_LINK
        } else {
            WEAK_LINK
        };
        self.columns.clear();
        self.weights.clear();
        self.row_starts.clear();
        self.row_starts.push(0);
        self.diagonal.clear();
        self.diagonal.extend(masses.iter().map(|mass| damping * mass));
        self.column_starts.clear();
        self.column_starts.resize(masses.len() + 1, 0);
        if kernel.is_sparse {
            for bounds in kernel.row_starts.windows(2) {
                let columns = kernel.columns[bounds[0]..bounds[1]].iter().copied();
                self.select_row(columns, &kernel.values[bounds[0]..bounds[1]]);
            }
        } else {
            for row in kernel.values.chunks_exact(masses.len()) {
                self.select_row(0.., row);
            }
        }
        for column in 0..masses.len() {
            self.column_starts[column + 1] += self.column_starts[column];
        }
        self.places.clear();
        self.places.resize(self.columns.len(), (0, 0));
        let mut next = self.column_starts.clone();
        for bounds in self.row_starts.windows(2) {
            for place in bounds[0]..bounds[1] {
                let slot = &mut next[self.columns[place as usize] as usize];
                self.places[*slot as usize] = (place, bounds[1]);
                *slot += 1;
            }
        }
    }

    fn select_row(&mut self, columns: impl Iterator<Item = u32>, values: &[f64]) {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let sum: f64 = values.iter().sum();
        // The largest entry may be nearly all of the sum: what is beside it is summed apart.
        let beside: f64 = values.iter().filter(|value| **value < largest).sum();
        for (column, &value) in columns.zip(values) {
            let others = if value < largest { sum - value } else { beside };
            self.diagonal[column as usize] += value * others;
            if value >= self.weakest * largest {
                self.columns.push(column);
                self.weights.push(value);
                self.column_starts[column as usize + 1] += 1;
            }
        }
        self.row_starts.push(index(self.columns.len()));
    }

    /// diag(H) − WᵀW off the diagonal, below it and column by column.
    fn assemble(&mut self) {
        let inner = self.diagonal.len();
        self.sums.clear();
        self.sums.resize(inner, 0.0);
        self.matrix_starts.clear();
        self.matrix_rows.clear();
        self.matrix_values.clear();
        for column in 0..inner {
            self.matrix_starts.push(index(self.matrix_rows.len()));
            self.matrix_rows.push(index(column));
            self.matrix_values.push(self.diagonal[column]);
            let places =
                self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
            for &(place, end) in &self.places[places] {
                let weight = self.weights[place as usize];
                // Columns ascend within a row.
                for other in place as usize + 1..end as usize {
                    let row = self.columns[other];
                    let sum = &mut self.sums[row as usize];
                    if *sum == 0.0 {
                        self.touched.push(row);
                    }
                    *sum -= weight * self.weights[other];
                }
            }
            self.touched.sort_unstable();
            for row in self.touched.drain(..) {
                self.matrix_rows.push(row);
                self.matrix_values.push(std::mem::take(&mut self.sums[row as usize]));
            }
        }
        self.matrix_starts.push(index(self.matrix_rows.len()));
    }
}

/// A position in lists of at most as many entries as the kernel has, whose columns are u32, too.
fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
