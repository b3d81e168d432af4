"""The real domains as the configs prepare them, from the folder that OTDA_DATA names."""

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat

OFFICE = {"C": "Caltech10", "A": "amazon", "W": "webcam", "D": "dslr"}
DIGITS = {"U": "USPS_vs_MNIST", "M": "MNIST_vs_USPS"}
FACES = {"P1": "PIE05", "P2": "PIE07", "P3": "PIE09", "P4": "PIE29"}


def data_folder():
    """None if there is none."""
    folder = os.environ.get("OTDA_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def load(name):
    """Samples in rows, and their labels."""
    folder = data_folder()
    if name in OFFICE:
        content = loadmat(folder / "office_surf" / f"{OFFICE[name]}_SURF_L10.mat")
        return standard_scores(content["fts"].astype(float)), numbers(content["labels"])
    if name in DIGITS:
        content = loadmat(folder / "digits" / f"{DIGITS[name]}.mat")
        return unit_rows(content["X_src"].T.astype(float)), numbers(content["Y_src"])
    content = loadmat(folder / "pie" / f"{FACES[name]}.mat")
    return unit_rows(content["fea"].astype(float)), numbers(content["gnd"])


def numbers(labels):
    return labels.ravel().astype(int)


def standard_scores(features):
    """Histograms, then each feature to zero mean and unit deviation: `preprocessing = ["l1_rows", "zscore"]`."""
    features = features / features.sum(axis=1, keepdims=True)
    features -= features.mean(axis=0)
    deviation = features.std(axis=0)
    return features / np.where(deviation > 0, deviation, 1)


def unit_rows(features):
    """`preprocessing = ["l2_rows"]`."""
    return features / np.linalg.norm(features, axis=1, keepdims=True)
