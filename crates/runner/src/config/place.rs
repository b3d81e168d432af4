//! Where in a config something is wrong: file, line and column.

use std::ops::Range;
use std::path::Path;

use anyhow::anyhow;

use crate::nearest_name::suggestion;

/// A config as written, to point into.
pub(super) struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> ConfigText<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// `line 3, column 7`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        format!("line {line}, column {}", before[line_start..].chars().count() + 1)
    }

    /// The parser's complaint, with the nearest valid name if a name is not known.
    pub(super) fn refusal(&self, problem: &toml::de::Error) -> anyhow::Error {
        // `unknown field `trails`, expected one of `seed`, `trials``: every second piece is a name.
        let names: Vec<&str> = problem.message().split('`').skip(1).step_by(2).collect();
        let nearest = match names.split_first() {
            Some((unknown, known)) if problem.message().starts_with("unknown ") => {
                suggestion(unknown, known.iter().copied())
            }
            _ => String::new(),
        };
        anyhow!("{}: {problem}{}", self.path.display(), nearest.trim_start())
    }
}
