//! Where in a config something is wrong: file, line and column.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use toml::de::{DeTable, DeValue};

use crate::nearest_name::suggestion;

/// A config as written, to point into.
pub(super) struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
}

/// A key of a config or an entry of an array, which displays as `line 3, column 7`.
#[derive(Clone)]
pub(super) struct Place<'a> {
    config: &'a ConfigText<'a>,
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Entry(usize),
}

impl<'a> ConfigText<'a> {
    /// The text of a file, without the mark that some editors put before it.
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|problem| {
            let whole = String::from_utf8_lossy(&bytes[..problem.valid_up_to()]);
            let place = place_behind(&whole);
            anyhow!("{}: {place}: this is not UTF-8 text: save the file as UTF-8", path.display())
        })?;
        Ok(Self { path, text: text.trim_start_matches('\u{feff}') })
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// `line 3, column 7`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        place_behind(self.text.get(..span.start).unwrap_or_default())
    }

    /// A key at the top, such as `data` or `trials`.
    pub(super) fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { config: self, steps: vec![Step::Key(key)] }
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
        let complaint =
            problem.to_string().replace(problem.message(), &in_plain_words(problem.message()));
        anyhow!("{}: {complaint}{}", self.path.display(), nearest.trim_start())
    }
}

impl<'a> Place<'a> {
    /// What stands under a key here.
    pub(super) fn key(&self, key: &'a str) -> Self {
        self.step(Step::Key(key))
    }

    /// An entry of the array here. `[data]` is the only entry of itself, as if it were `[[data]]`.
    pub(super) fn entry(&self, number: usize) -> Self {
        self.step(Step::Entry(number))
    }

    fn step(&self, step: Step<'a>) -> Self {
        let steps = self.steps.iter().copied().chain([step]).collect();
        Self { config: self.config, steps }
    }
}

impl fmt::Display for Place<'_> {
    // Parsed again, because only errors want to know; what is not there is where it is missing.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = DeTable::parse(self.config.text).map(toml::Spanned::into_inner);
        let (mut span, top) = (0..0, DeValue::Table(table.unwrap_or_default()));
        let mut value = &top;
        for step in &self.steps {
            match (step, value) {
                (Step::Key(key), DeValue::Table(table)) => {
                    let Some((key, found)) = table.get_key_value(*key) else { break };
                    value = found.get_ref();
                    // A table is where its name is.
                    span = if value.is_table() { key.span() } else { found.span() };
                }
                (Step::Entry(number), DeValue::Array(entries)) => {
                    let Some(found) = entries.get(*number) else { break };
                    (span, value) = (found.span(), found.get_ref());
                }
                (Step::Entry(_), DeValue::Table(_)) => {}
                _ => break,
            }
        }
        formatter.write_str(&self.config.place(&span))
    }
}

/// `line 3, column 7`, behind the text before it.
fn place_behind(before: &str) -> String {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    format!("line {line}, column {}", before[line_start..].chars().count() + 1)
}

/// What serde expects, without the names that Rust has for it.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "u64" | "usize" => "a whole number that is not negative",
        "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "a table",
        "a string" => "a text in quotes",
        "struct OwnDomain" => "a table such as { features = \"x.npy\", labels = \"y.npy\" }",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let found =
        [("` as i128", "`"), ("type: map", "type: table"), ("type: sequence", "type: array")]
            .iter()
            .fold(found.to_owned(), |found, (rust, plain)| found.replace(rust, plain));
    format!("{found}, expected {expected}")
}
