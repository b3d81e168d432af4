"""Markdown and CSV."""

import csv

from compare.statistics import median, spread


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def number(value, style=".3g"):
    return "—" if value is None else format(value, style)


def seconds(values):
    """Median ± interquartile range × repetitions."""
    if not values:
        return "—"
    width = spread(values)
    return f"{median(values):.3g}" + (f" ± {width:.1g}" if width is not None else "") + f" ×{len(values)}"


def write_csv(file, rows):
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
