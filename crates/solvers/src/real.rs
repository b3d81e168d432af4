//! f32 and f64 as one kind of number, for loops that search in the one and finish in the other.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::{elementary, single};

pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const EPSILON: Self;
    const INFINITY: Self;

    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// self · factor + addend.
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;
    fn exp_one<const FUSED: bool>(self) -> Self;
    fn ln_one<const FUSED: bool>(self) -> Self;
}

macro_rules! real {
    ($number:ident, $functions:ident) => {
        impl Real for $number {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $number::EPSILON;
            const INFINITY: Self = $number::INFINITY;

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a precision that was asked for")]
            fn of(value: f64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $number::abs(self)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $number::sqrt(self)
            }

            #[inline(always)]
            fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self {
                $functions::multiply_add::<FUSED>(self, factor, addend)
            }

            #[inline(always)]
            fn exp_one<const FUSED: bool>(self) -> Self {
                $functions::exp_one::<FUSED>(self)
            }

            #[inline(always)]
            fn ln_one<const FUSED: bool>(self) -> Self {
                $functions::ln_one::<FUSED>(self)
            }
        }
    };
}

real!(f32, single);
real!(f64, elementary);
