//! The grid of hyper-parameters that a method is tried with.

use serde::{Deserialize, Serialize};

/// The values of each hyper-parameter, in the order in which a method declares them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grid(pub Vec<(String, Vec<f64>)>);

/// One value for each hyper-parameter, in the grid's order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(pub Vec<(String, f64)>);

impl Grid {
    /// Every combination, the last hyper-parameter varying fastest. Without hyper-parameters: one point.
    pub fn points(&self) -> Vec<Point> {
        let mut points = vec![Point::default()];
        for (name, values) in &self.0 {
            points = points
                .iter()
                .flat_map(|point| {
                    values.iter().map(|value| {
                        let mut longer = point.clone();
                        longer.0.push((name.clone(), *value));
                        longer
                    })
                })
                .collect();
        }
        points
    }
}

impl Point {
    /// The value of a hyper-parameter that the method declares.
    ///
    /// # Panics
    /// If the method does not: a slip in the registry, not in a config.
    pub fn get(&self, name: &str) -> f64 {
        self.find(name).unwrap_or_else(|| panic!("the registry gives this method no {name:?}"))
    }

    /// The value of a hyper-parameter, if the method has it.
    pub fn find(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// A hyper-parameter that counts something; configs are checked to have whole numbers there.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a count"
    )]
    pub fn count(&self, name: &str) -> usize {
        self.get(name) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_the_product_of_its_axes_and_a_method_without_any_has_one_point() {
        let grid = Grid(vec![("lambda".into(), vec![1.0, 2.0]), ("k".into(), vec![3.0, 4.0, 5.0])]);
        let points = grid.points();
        assert_eq!(points.len(), 6);
        assert_eq!((points[1].get("lambda"), points[1].count("k")), (1.0, 4));
        assert_eq!((points[5].get("lambda"), points[5].count("k")), (2.0, 5));
        assert_eq!(Grid::default().points(), [Point::default()]);
    }
}
