//! Square images to another resolution by area: each new pixel is the mean of what it covers.

use ndarray::{Array2, ArrayView2};

/// Resizes every row of `images`, a square image of `from_side`², to `to_side`².
///
/// # Panics
/// If a row does not have `from_side`² values.
#[must_use]
pub fn resize_images(images: ArrayView2<'_, f64>, from_side: usize, to_side: usize) -> Array2<f64> {
    assert_eq!(images.ncols(), from_side * from_side, "a row is one square image");
    let weights = coverage(from_side, to_side);
    let mut resized = Array2::zeros((images.nrows(), to_side * to_side));
    for (image, mut row) in images.rows().into_iter().zip(resized.rows_mut()) {
        let image = image.to_shape((from_side, from_side)).expect("the width was checked");
        // Area weights separate: W · image · Wᵀ.
        let small = weights.dot(&image).dot(&weights.t());
        row.iter_mut().zip(&small).for_each(|(to, &from)| *to = from);
    }
    resized
}

/// Entry (i, j): the share of new pixel i that old pixel j covers, along one side.
fn coverage(from_side: usize, to_side: usize) -> Array2<f64> {
    let scale = from_side as f64 / to_side as f64;
    Array2::from_shape_fn((to_side, from_side), |(new, old)| {
        let (start, end) = (new as f64 * scale, (new + 1) as f64 * scale);
        let overlap = end.min((old + 1) as f64) - start.max(old as f64);
        overlap.max(0.0) / scale
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn halving_averages_blocks_of_four() {
        let image = array![[0., 4., 8., 8., 0., 4., 8., 8., 1., 1., 0., 0., 1., 1., 0., 2.]];
        assert_eq!(resize_images(image.view(), 4, 2), array![[2., 8., 1., 0.5]]);
    }

    #[test]
    fn brightness_is_kept_from_28_to_16() {
        let image = Array2::from_shape_fn((1, 28 * 28), |(_, pixel)| (pixel * 37 % 256) as f64);
        let resized = resize_images(image.view(), 28, 16);
        let (before, after) = (image.mean().unwrap(), resized.mean().unwrap());
        assert!((before - after).abs() < 1e-10, "{before} {after}");
    }
}
