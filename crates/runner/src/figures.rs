//! The paper's figures, drawn from our own solves.

mod clouds;
mod examples;
mod illustration;
mod moons;
mod plan;
mod png;
mod scene;

use anyhow::Result;
use datasets::Library;

/// A figure: its file, what it shows, and what draws it.
pub struct Figure {
    pub file: &'static str,
    pub caption: &'static str,
    pub draw: fn(&Library) -> Result<String>,
}

/// Every figure, in the paper's order.
pub static FIGURES: [Figure; 5] = [
    Figure {
        file: "illustration.svg",
        caption: "The approach. Left: a classifier of the source does not fit the target (grey). Middle: the source \
                  samples move along the plan of OT-GL. Right: a classifier of the moved samples fits the target.",
        draw: illustration::draw,
    },
    Figure {
        file: "transport_plan.svg",
        caption: "The optimal plan between two clouds of points. A line joins two samples that exchange mass.",
        draw: plan::draw,
    },
    Figure {
        file: "two_moons.svg",
        caption: "Two moons: the decision boundary of OT-Laplace for increasing rotations. Source samples are \
                  coloured, target samples grey.",
        draw: moons::draw,
    },
    Figure {
        file: "digits.svg",
        caption: "Five samples of one class from each domain of the digits: USPS and MNIST, 16 × 16 pixels.",
        draw: examples::digits,
    },
    Figure {
        file: "faces.svg",
        caption: "Five samples of one person from each domain of the faces: PIE05, PIE07, PIE09 and PIE29, 32 × 32 pixels.",
        draw: examples::faces,
    },
];
