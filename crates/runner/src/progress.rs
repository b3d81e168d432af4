//! Progress on the terminal: downloads and trials. Nothing is drawn where stderr is not a terminal.

use std::cell::RefCell;

use datasets::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar for each download.
#[derive(Default)]
pub struct DownloadBars {
    current: RefCell<Option<ProgressBar>>,
}

impl Progress for DownloadBars {
    fn start(&self, file: &str, total: Option<u64>) {
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::no_length(),
        };
        bar.set_style(style("{msg:24} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}"));
        bar.set_message(file.to_owned());
        self.current.replace(Some(bar));
    }

    fn at(&self, bytes: u64) {
        if let Some(bar) = &*self.current.borrow() {
            bar.set_position(bytes);
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.current.take() {
            bar.finish();
        }
    }
}

/// A bar over the units of a run.
pub fn unit_bar(units: usize, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(units as u64);
    bar.set_style(style("{bar:40} {pos}/{len} trials {per_sec} ETA {eta}"));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
