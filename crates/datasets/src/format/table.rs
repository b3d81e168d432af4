//! CSV and Parquet through polars: one array a column.

use std::cell::Cell;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use ndarray::Array2;
use polars_buffer::Buffer;
use polars_core::prelude::{Column, DataFrame, DataType, PolarsResult, polars_bail};
use polars_io::SerReader;
use polars_io::csv::read::{CsvParseOptions, CsvReadOptions};
use polars_io::parquet::read::ParquetReader;
use polars_parquet::parquet::page::CompressedPage;
use polars_parquet::parquet::read::{PageReader, read_metadata};

use super::{FormatError, NamedArray, Parsed, Values, checked_count};
use crate::recognise::is_label_name;

/// In bytes, as [`super::MAX_VALUES`] values take.
const LARGEST_PAGE: usize = super::MAX_VALUES * 8;
const PARQUET_MARK: &[u8] = b"PAR1";

pub(super) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(PARQUET_MARK)
}

pub(super) fn parse_parquet(bytes: &[u8]) -> Parsed<Vec<NamedArray>> {
    const FORMAT: &str = "Parquet";
    if !is_parquet(bytes) {
        return Err(FormatError::NotThisFormat {
            format: FORMAT,
            problem: "it does not start with PAR1".into(),
        });
    }
    if bytes.len() < 12 || !bytes.ends_with(PARQUET_MARK) {
        return Err(FormatError::Truncated {
            format: FORMAT,
            problem: "it does not end with PAR1".into(),
        });
    }
    let (rows, width) = guarded(FORMAT, || {
        let mut reader = ParquetReader::new(Cursor::new(bytes));
        Ok((reader.num_rows()?, reader.schema()?.len()))
    })?;
    checked_count(FORMAT, &[rows, width])?;
    guarded(FORMAT, || check_pages(bytes))?;
    let table = guarded(FORMAT, || ParquetReader::new(Cursor::new(bytes)).finish())?;
    columns(FORMAT, &table)
}

/// polars allocates what a page declares, and a declaration that is too large ends the process.
fn check_pages(bytes: &[u8]) -> PolarsResult<()> {
    let metadata = read_metadata(&mut Cursor::new(bytes))?;
    for group in &metadata.row_groups {
        for column in group.parquet_columns() {
            let range = column.byte_range();
            let place = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
            let Some(pages) = place.and_then(|(start, end)| bytes.get(start..end)) else {
                polars_bail!(ComputeError: "a column lies outside the file");
            };
            let reader = Cursor::new(Buffer::from(pages.to_vec()));
            for page in PageReader::new(reader, column, Vec::new(), LARGEST_PAGE) {
                if let CompressedPage::Data(page) = page?
                    && page.num_values() > group.num_rows()
                {
                    polars_bail!(ComputeError: "a page declares more values than there are rows");
                }
            }
        }
    }
    Ok(())
}

pub(super) fn parse_csv(bytes: &[u8]) -> Parsed<Vec<NamedArray>> {
    const FORMAT: &str = "CSV";
    let text = std::str::from_utf8(bytes).map_err(|problem| FormatError::NotThisFormat {
        format: FORMAT,
        problem: format!("byte {} is not UTF-8 text", problem.valid_up_to() + 1),
    })?;
    let Some(first_line) = text.lines().find(|line| !line.trim().is_empty()) else {
        return Err(FormatError::NotThisFormat { format: FORMAT, problem: "it is empty".into() });
    };
    let separator = separator_of(first_line);
    check_rows(text, separator)?;
    let has_header = has_header(text, separator)?;
    let options = CsvReadOptions::default()
        .with_has_header(has_header)
        // Types from all rows: a column may turn from whole numbers to fractions anywhere.
        .with_infer_schema_length(None)
        .with_parse_options(CsvParseOptions::default().with_separator(separator));
    let table =
        guarded(FORMAT, || options.into_reader_with_file_handle(Cursor::new(bytes)).finish())?;
    columns(FORMAT, &table)
}

/// Fails unless all rows have as many fields as the first: polars would fill up the others, as if values were missing in
/// them, and does not say where. A quoted field may go on in the next line: no statement about such files.
fn check_rows(text: &str, separator: u8) -> Parsed<()> {
    if text.lines().any(|line| line.matches('"').count() % 2 == 1) {
        return Ok(());
    }
    let fields = |line: &str| {
        let unquoted = line.split('"').step_by(2);
        1 + unquoted.map(|part| part.matches(char::from(separator)).count()).sum::<usize>()
    };
    let (mut first, mut empty) = (None, None);
    for (place, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            empty = empty.or(Some(place));
            continue;
        }
        let count = fields(line);
        let (start, expected) = *first.get_or_insert_with(|| {
            empty = None;
            (place, count)
        });
        if let Some(empty) = empty {
            return Err(FormatError::Unsupported {
                problem: format!("line {} is empty", empty + 1),
                remedy: "Remove it, or fill in its values",
            });
        }
        if count != expected {
            return Err(FormatError::Unsupported {
                problem: format!(
                    "rows have different numbers of fields: line {} has {expected}, line {} has {count}",
                    start + 1,
                    place + 1
                ),
                remedy: "Give every row the same",
            });
        }
    }
    Ok(())
}

/// Whether the first line names the columns. Taking a sample for names would lose it silently.
fn has_header(text: &str, separator: u8) -> Parsed<bool> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        line.split(char::from(separator)).map(|field| field.trim().trim_matches('"').trim())
    });
    // A missing value is as good as a number.
    let is_number = |field: &str| field.is_empty() || field.parse::<f64>().is_ok();
    let first: Vec<&str> = lines.next().into_iter().flatten().collect();
    if first.iter().all(|field| is_number(field)) {
        // Two features of a sample may well be 0 and 1.
        let counts = first.len() > 2
            && first.iter().enumerate().all(|(place, field)| *field == place.to_string());
        if counts {
            return Err(FormatError::Unsupported {
                problem: "line 1 counts 0, 1, 2, …: it may be a sample or the columns' names that pandas gives"
                    .into(),
                remedy: "Begin the table with a line of names, or leave those out (pandas: to_csv(header=False))",
            });
        }
        return Ok(false);
    }
    if first.iter().any(|field| is_label_name(field)) {
        return Ok(true);
    }
    if first.len() == 1 {
        // A name above numbers, or the first of many words.
        return Ok(lines.flatten().all(is_number));
    }
    // An empty field may be the head of pandas' index.
    if first.iter().any(|field| field.parse::<f64>().is_ok()) {
        return Err(FormatError::Unsupported {
            problem: "line 1 holds both numbers and text: it may be a sample or the columns' names"
                .into(),
            remedy: "Begin the table with a line of names, such as a,b,label",
        });
    }
    Ok(true)
}

fn separator_of(line: &str) -> u8 {
    let count = |separator: u8| line.bytes().filter(|&byte| byte == separator).count();
    [b',', b';', b'\t', b' '].into_iter().find(|&separator| count(separator) > 0).unwrap_or(b',')
}

/// Runs polars on bytes from outside. It panics on some damaged files instead of answering with an error,
/// partly in threads of its own.
fn guarded<T>(format: &'static str, read: impl FnOnce() -> PolarsResult<T>) -> Parsed<T> {
    silence_panics_of_polars();
    let damaged = |problem: String| FormatError::Damaged { format, problem };
    IN_POLARS.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IN_POLARS.set(false);
    match result {
        Ok(result) => result.map_err(|problem| damaged(one_line(&problem.to_string()))),
        Err(_) => Err(damaged("its reader gave up on it".into())),
    }
}

thread_local! {
    static IN_POLARS: Cell<bool> = const { Cell::new(false) };
}

/// A panic that becomes an error must not also print a backtrace. All others print as before.
fn silence_panics_of_polars() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_polars_thread =
                std::thread::current().name().is_some_and(|name| name.starts_with("polars-"));
            if !IN_POLARS.get() && !is_polars_thread {
                previous(panic);
            }
        }));
    });
}

/// polars explains its own options below the first line; they are not ours.
fn one_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_end_matches(['.', ':']).to_owned()
}

fn columns(format: &'static str, table: &DataFrame) -> Parsed<Vec<NamedArray>> {
    table
        .columns()
        .iter()
        .map(|column| {
            let values = match column.dtype() {
                DataType::String => text_or_numbers(column),
                DataType::Boolean | DataType::Null => numbers(column),
                kind if kind.is_primitive_numeric() => numbers(column),
                other => Ok(Values::Other(format!("column of {other}"))),
            };
            let values = values.map_err(|problem| FormatError::Damaged {
                format,
                problem: one_line(&problem.to_string()),
            })?;
            Ok(NamedArray { name: column.name().to_string(), values })
        })
        .collect()
}

fn numbers(column: &Column) -> PolarsResult<Values> {
    let column = column.cast(&DataType::Float64)?;
    // A missing value is kept as NaN: the domain then says in which row and column it is.
    let values = column.f64()?.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
    Ok(Values::Numbers(one_column(values)))
}

/// polars takes a column for text as soon as one entry is spelled `nan` or `Inf`.
fn text_or_numbers(column: &Column) -> PolarsResult<Values> {
    let entries: Vec<&str> = column.str()?.iter().map(Option::unwrap_or_default).collect();
    let parsed: Option<Vec<f64>> = entries.iter().map(|entry| entry.trim().parse().ok()).collect();
    Ok(match parsed {
        Some(values) => Values::Numbers(one_column(values)),
        None => Values::Text(entries.into_iter().map(str::to_owned).collect()),
    })
}

fn one_column(values: Vec<f64>) -> Array2<f64> {
    Array2::from_shape_vec((values.len(), 1), values).expect("one column")
}
