#!/usr/bin/env python3
"""The faces once more as far from themselves as the files at hand are from the public ones.

The files were decoded from JPEG images with a peak signal-to-noise ratio of about 33 dB. Asks what such a loss does to
accuracies. How, from the root of the workspace, with the real data in the folder that OTDA_DATA names:

    python3 scripts/degraded_faces.py --by aligned --out DIR      # JPEG's blocks begin at the corner of the image
    python3 scripts/degraded_faces.py --by shifted --out DIR      # … or half a block beside it
    python3 scripts/degraded_faces.py --by noise --out DIR        # white noise instead

writes the four files into DIR/pie/, and `cargo run -p runner -- configs/pie.toml --methods ot-it --data DIR` runs them.
"""

import argparse
import sys
from pathlib import Path

from compare import environment

if environment.is_installed():
    import numpy as np
    from compare import domains
    from scipy.fft import dctn, idctn
    from scipy.io import loadmat, savemat

SIDE, BLOCK = 32, 8
DECIBELS = 33.0
# The table of the JPEG standard (ITU T.81, annex K.1) for luminance at quality 50.
QUANTIZATION = [[16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55],
                [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
                [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
                [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99]]


def main():
    arguments = parse_arguments()
    if not environment.is_installed():
        sys.exit(environment.run_inside(__file__))
    source = domains.data_folder()
    if source is None:
        sys.exit("OTDA_DATA names no folder: set it to the one that has pie/PIE05.mat and the other three")
    folder = arguments.out / "pie"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    for name in domains.FACES.values():
        content = loadmat(source / "pie" / f"{name}.mat")
        images = content["fea"].astype(float)
        if arguments.by == "noise":
            noise = random.normal(0, 255 * 10 ** (-DECIBELS / 20), images.shape)
            degraded = pixels(images + noise)
        else:
            degraded = compressed(images, BLOCK // 2 if arguments.by == "shifted" else 0)
        print(f"{name}: {signal_to_noise(images, degraded):.2f} dB")
        arrays = {key: value for key, value in content.items() if not key.startswith("__")}
        savemat(folder / f"{name}.mat", {**arrays, "fea": degraded.astype(np.uint8)}, do_compression=True)


def compressed(images, offset):
    """As coarsely quantized as the ratio asks for, by bisection."""
    finest, coarsest = 0.01, 10.0
    for _ in range(20):
        factor = np.sqrt(finest * coarsest)
        found = quantized(images, offset, factor)
        if signal_to_noise(images, found) > DECIBELS:
            finest = factor
        else:
            coarsest = factor
    return found


def quantized(images, offset, factor):
    """What JPEG keeps of images: each block's cosine transform in multiples of the table's entries."""
    padded = np.pad(images.reshape(-1, SIDE, SIDE), ((0, 0), (offset, offset), (offset, offset)), mode="edge")
    side = SIDE + 2 * offset
    blocks = padded.reshape(-1, side // BLOCK, BLOCK, side // BLOCK, BLOCK).swapaxes(2, 3)
    steps = np.maximum(np.round(factor * np.array(QUANTIZATION)), 1)
    kept = steps * np.round(dctn(blocks - 128, axes=(3, 4), norm="ortho") / steps)
    restored = idctn(kept, axes=(3, 4), norm="ortho").swapaxes(2, 3).reshape(-1, side, side) + 128
    inner = slice(offset, offset + SIDE)
    return pixels(restored[:, inner, inner].reshape(len(images), -1))


def pixels(values):
    return np.clip(np.round(values), 0, 255)


def signal_to_noise(images, degraded):
    return 10 * np.log10(255**2 / np.mean((images - degraded) ** 2))


def parse_arguments():
    summary, _, details = __doc__.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=summary, epilog=details, formatter_class=raw)
    parser.add_argument("--by", choices=["aligned", "shifted", "noise"], required=True)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="a folder for data")
    return parser.parse_args()


if __name__ == "__main__":
    main()
