//! Clouds of points that are spread evenly without chance: Vogel's spiral, which puts equal shares of a disc
//! around each of its points.

use ndarray::Array2;

/// Some points in an ellipse: its centre, its half axes and the angle of the first of them, in degrees.
pub fn ellipse(count: usize, centre: [f64; 2], axes: [f64; 2], angle: f64) -> Array2<f64> {
    let golden_angle = std::f64::consts::PI * (3.0 - 5_f64.sqrt());
    let (sine, cosine) = angle.to_radians().sin_cos();
    Array2::from_shape_fn((count, 2), |(place, axis)| {
        let radius = ((place as f64 + 0.5) / count as f64).sqrt();
        let turn = place as f64 * golden_angle;
        let (x, y) = (axes[0] * radius * turn.cos(), axes[1] * radius * turn.sin());
        centre[axis] + if axis == 0 { cosine * x - sine * y } else { sine * x + cosine * y }
    })
}
