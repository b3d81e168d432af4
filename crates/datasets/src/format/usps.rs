//! USPS's `zip.train` and `zip.test`: a line a digit, the label and 256 grey values in [−1, 1].

use ndarray::Array2;

use super::{FormatError, NamedArray, Parsed};

const FORMAT: &str = "USPS zip";
const PIXELS: usize = 256;
const GREY_VALUES: std::ops::RangeInclusive<f64> = -1.0..=1.0;

pub(super) fn is_usps(lower_case_name: &str, bytes: &[u8]) -> bool {
    lower_case_name.starts_with("zip.") || first_line_is_a_digit(bytes)
}

fn first_line_is_a_digit(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    // A line of the real files has at most 2 KiB; do not look through a binary file.
    end < 8192
        && std::str::from_utf8(&bytes[..end]).is_ok_and(|line| {
            let numbers: Option<Vec<f64>> =
                line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
            // A table of as many numbers has others, or its label elsewhere.
            numbers.is_some_and(|numbers| {
                numbers.len() == PIXELS + 1
                    && (0..10).any(|digit| numbers[0] == f64::from(digit))
                    && numbers[1..].iter().all(|number| GREY_VALUES.contains(number))
            })
        })
}

pub(super) fn parse(bytes: &[u8]) -> Parsed<Vec<NamedArray>> {
    let text = std::str::from_utf8(bytes).map_err(|_| FormatError::NotThisFormat {
        format: FORMAT,
        problem: "it is not text".into(),
    })?;
    let (mut labels, mut pixels) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let before = pixels.len();
        for (place, field) in line.split_ascii_whitespace().enumerate() {
            let number: f64 = field.parse().map_err(|_| FormatError::Damaged {
                format: FORMAT,
                problem: format!(
                    "line {}, field {}: {field:?} is not a number",
                    index + 1,
                    place + 1
                ),
            })?;
            if place == 0 {
                labels.push(number);
            } else if !GREY_VALUES.contains(&number) {
                return Err(FormatError::Damaged {
                    format: FORMAT,
                    problem: format!(
                        "line {}, field {}: {field} is no grey value between −1 and 1",
                        index + 1,
                        place + 1
                    ),
                });
            } else {
                // To the grey scale of MNIST, black 0 and white 1: the paper's unit norms are not
                // invariant to an offset.
                pixels.push(f64::midpoint(number, 1.0));
            }
        }
        let found = pixels.len() - before;
        if found != PIXELS {
            return Err(FormatError::Damaged {
                format: FORMAT,
                problem: format!("line {} has {found} pixels instead of {PIXELS}", index + 1),
            });
        }
    }
    let samples = labels.len();
    let shape_holds = "every line was checked to have all pixels";
    Ok(vec![
        NamedArray::numbers(
            "images",
            Array2::from_shape_vec((samples, PIXELS), pixels).expect(shape_holds),
        ),
        NamedArray::numbers(
            "labels",
            Array2::from_shape_vec((samples, 1), labels).expect(shape_holds),
        ),
    ])
}
