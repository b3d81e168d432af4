"""Medians, spreads, ratios with their uncertainty, and exponents."""

import numpy as np

RESAMPLES = 2000


def median(values):
    return float(np.median(values)) if values else None


def spread(values):
    """The interquartile range."""
    if not values or len(values) < 2:
        return None
    low, high = np.percentile(values, [25, 75])
    return float(high - low)


def ratio_interval(numerator, denominator):
    """95 % of the ratio of medians, by the bootstrap; None with less than three measurements on either side."""
    if min(len(numerator), len(denominator)) < 3:
        return None
    random = np.random.default_rng(1)

    def medians(values):
        picks = random.integers(len(values), size=(RESAMPLES, len(values)))
        return np.median(np.array(values)[picks], axis=1)

    low, high = np.percentile(medians(numerator) / medians(denominator), [2.5, 97.5])
    return float(low), float(high)


def exponent(sizes, values):
    """e of value ~ n^e, by least squares on logarithms; None with less than three points."""
    if len(sizes) < 3:
        return None
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
