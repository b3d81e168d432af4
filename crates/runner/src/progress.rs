//! Progress: bars on a terminal, a line now and then elsewhere, nothing if it is to be quiet.

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use datasets::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Where nobody looks at a bar, a line is written this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar for each download, and elsewhere than on a terminal a line.
pub struct DownloadBars {
    is_quiet: bool,
    current: RefCell<Option<ProgressBar>>,
}

impl DownloadBars {
    pub fn new(is_quiet: bool) -> Self {
        Self { is_quiet, current: RefCell::default() }
    }
}

impl Progress for DownloadBars {
    fn start(&self, file: &str, total: Option<u64>) {
        if self.is_quiet {
            return;
        }
        if !std::io::stderr().is_terminal() {
            eprintln!("Downloading {file}");
            return;
        }
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

/// Units done, how fast, how long still, and what is running.
pub struct SweepProgress {
    bar: ProgressBar,
    state: Mutex<SweepState>,
    begun: Instant,
    total: usize,
    total_effort: f64,
    writes_lines: bool,
}

struct SweepState {
    running: Vec<String>,
    done: usize,
    done_now: usize,
    done_effort: f64,
    last_line: Instant,
}

impl SweepProgress {
    /// `total` counts all units, `efforts` has those that are still to do.
    pub fn new(total: usize, efforts: impl ExactSizeIterator<Item = f64>, quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let done = total - efforts.len();
        let bar = if quiet || !is_terminal || efforts.len() == 0 {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(total as u64)
        };
        bar.set_style(style("{bar:30} {pos}/{len} {msg}"));
        bar.set_position(done as u64);
        bar.enable_steady_tick(Duration::from_secs(1));
        if !quiet && done > 0 {
            eprintln!("{done} of {total} units are done already.");
        }
        let begun = Instant::now();
        let state = SweepState {
            running: Vec::new(),
            done,
            done_now: 0,
            done_effort: 0.0,
            last_line: begun,
        };
        Self {
            bar,
            state: Mutex::new(state),
            begun,
            total,
            total_effort: efforts.sum(),
            writes_lines: !quiet && !is_terminal,
        }
    }

    pub fn start(&self, unit: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.push(unit.to_owned());
        // Not only as one ends: with a single thread, none is running then.
        self.write_line(&mut state);
        self.bar.set_message(self.message(&state));
    }

    pub fn finish(&self, unit: &str, effort: f64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.retain(|running| running != unit);
        state.done += 1;
        state.done_now += 1;
        state.done_effort += effort;
        self.bar.set_position(state.done as u64);
        self.write_line(&mut state);
        self.bar.set_message(self.message(&state));
    }

    fn write_line(&self, state: &mut SweepState) {
        if let Some(line) = self.line(state) {
            eprintln!("{line}");
            state.last_line = Instant::now();
        }
    }

    /// What is to be written now, if anything is.
    fn line(&self, state: &SweepState) -> Option<String> {
        let is_due = state.last_line.elapsed() >= LINE_EVERY && !state.running.is_empty();
        (self.writes_lines && is_due)
            .then(|| format!("{}/{} {}", state.done, self.total, self.message(state)))
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn message(&self, state: &SweepState) -> String {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let mut message = String::new();
        if state.done_effort > 0.0 {
            // Units differ by orders of magnitude: the time left goes by their effort, not their number.
            let left = elapsed * (self.total_effort / state.done_effort - 1.0);
            let rate = state.done_now as f64 / elapsed;
            message = format!("{rate:.1}/s ETA {} ", duration(left));
        }
        message + &state.running.join("; ")
    }
}

/// `5 s`, `3 min`, `2 h 10 min`.
pub fn duration(seconds: f64) -> String {
    let rounded =
        Duration::try_from_secs_f64(seconds.round().max(0.0)).unwrap_or(Duration::MAX).as_secs();
    match (rounded / 3600, rounded / 60 % 60, rounded % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_what_is_running() {
        let mut progress = SweepProgress::new(3, [1.0, 1.0].into_iter(), true);
        progress.writes_lines = true;
        let line = |progress: &SweepProgress| {
            let mut state = progress.state.lock().unwrap();
            state.last_line = Instant::now().checked_sub(LINE_EVERY).unwrap();
            progress.line(&state)
        };
        // One thread: between two units nothing is running, and nothing is written.
        assert_eq!(line(&progress), None);
        progress.state.lock().unwrap().running.push("OT-GL on C->A, trial 1".into());
        assert_eq!(line(&progress).unwrap(), "1/3 OT-GL on C->A, trial 1");
        progress.finish("OT-GL on C->A, trial 1", 1.0);
        assert_eq!(line(&progress), None);
        progress.start("OT-GL on C->A, trial 2");
        let line = line(&progress).unwrap();
        assert!(line.starts_with("2/3 ") && line.ends_with(" OT-GL on C->A, trial 2"), "{line}");
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(duration(4.6), "5 s");
        assert_eq!(duration(190.0), "3 min 10 s");
        assert_eq!(duration(7800.0), "2 h 10 min");
        assert_eq!(duration(-1.0), "0 s");
    }
}
