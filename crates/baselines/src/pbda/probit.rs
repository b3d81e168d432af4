//! The losses of a Gaussian posterior over linear classifiers, as functions of the normalised margin.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// A loss and its derivative at a margin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    pub value: f64,
    pub slope: f64,
}

/// Φ(a) = ½(1 − erf(a/√2)): how probably a voter of the posterior errs.
fn probit(margin: f64) -> f64 {
    0.5 * libm::erfc(margin * FRAC_1_SQRT_2)
}

fn density(margin: f64) -> f64 {
    (-0.5 * margin * margin).exp() / (2.0 * PI).sqrt()
}

/// Φ_cvx(a) = max(Φ(a), ½ − a/√2π), the convex relaxation of Φ: linear where the margin is negative.
pub fn convex_risk(margin: f64) -> Loss {
    if margin < 0.0 {
        let slope = -density(0.0);
        return Loss { value: 0.5 + slope * margin, slope };
    }
    Loss { value: probit(margin), slope: -density(margin) }
}

/// Φ_dis(a) = 2Φ(a)Φ(−a): how probably two voters of the posterior disagree.
pub fn disagreement(margin: f64) -> Loss {
    let against = probit(margin);
    let in_favour = 1.0 - against;
    Loss { value: 2.0 * against * in_favour, slope: 2.0 * density(margin) * (against - in_favour) }
}
