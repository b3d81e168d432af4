//! The journal of a run: each finished unit is a line of JSON, on the disk before the next one counts.
//!
//! A run that is killed loses the units in flight and nothing else; the next one reads the journal and goes on.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};

use crate::session::Session;
use crate::unit::{Ending, Record};

/// The journal's name in a folder of results.
const FILE: &str = "journal.jsonl";

/// An open journal. Only one run at a time has it.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    pub session: Session,
}

impl Journal {
    /// Opens the journal of a folder, which may be there already.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .with_context(|| cannot_use(&path))?;
        // A file system without locks has another error: two runs at once write each unit twice there.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!(
                "another run is writing to {}: wait for its end, or choose another folder with --out DIR",
                folder.display()
            );
        }
        let has_units = file.metadata().is_ok_and(|metadata| metadata.len() > 0);
        let session = Session::begin(folder, has_units);
        Ok(Self { path, file: Mutex::new(file), session })
    }

    /// Begins again, empty.
    pub fn clear(&self) -> Result<()> {
        self.file().set_len(0).with_context(|| cannot_use(&self.path))
    }

    /// The units that are scored in it, by key. What a killed run left of its last line is cut off.
    pub fn scored(&self) -> Result<HashMap<String, Record>> {
        let path = &self.path;
        let mut file = self.file();
        let mut bytes = Vec::new();
        // From the start also if it was read before: what is behind the last whole line is cut off below.
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .with_context(|| cannot_use(path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        file.set_len(whole as u64).with_context(|| cannot_use(path))?;
        let mut scored = HashMap::new();
        for (number, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let record: Record = serde_json::from_slice(line).with_context(|| {
                format!(
                    "{}, line {}: not a finished unit; --fresh starts the run over",
                    path.display(),
                    number + 1
                )
            })?;
            if let Ending::Scored(_) = record.ending {
                scored.insert(record.key.clone(), record);
            }
        }
        Ok(scored)
    }

    /// Appends a unit and waits until it is on the disk.
    pub fn append(&self, record: &Record) -> Result<()> {
        let line = serde_json::to_string(record)? + "\n";
        let mut file = self.file();
        let before = file.metadata().map(|metadata| metadata.len());
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        if let (Err(_), Ok(length)) = (&written, before) {
            // Half a line would spoil that of the next unit in flight. If this fails, too, nothing can be done.
            let _ = file.set_len(length);
        }
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.session.keep()
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cannot_use(path: &Path) -> String {
    format!("cannot use {}; choose another folder with --out DIR", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Score, UnitScores};

    fn record(key: &str) -> Record {
        let score = Score {
            point: crate::config::Point(vec![("lambda".into(), 0.1)]),
            accuracy: 1.0 / 3.0,
            convergence: None,
            seconds: 0.5,
        };
        let scores = UnitScores { tried: vec![score.clone()], chosen: 0, test: score };
        Record {
            key: key.into(),
            prefix: String::new(),
            pair: "C->A".into(),
            trial: 1,
            method: "ot-it".into(),
            seconds: 1.0,
            ending: Ending::Scored(scores),
        }
    }

    #[test]
    fn what_was_appended_is_read_again_and_a_torn_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        assert!(journal.scored().unwrap().is_empty());
        journal.append(&record("one")).unwrap();
        journal.append(&Record { ending: Ending::Failed("no".into()), ..record("two") }).unwrap();
        drop(journal);
        let path = folder.path().join(FILE);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"key\":\"thr").unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let scored = journal.scored().unwrap();
        assert_eq!(scored.len(), 1, "failed units are tried again");
        assert_eq!(scored["one"], record("one"));
        assert_eq!(journal.scored().unwrap(), scored, "it can be read again");
        journal.append(&record("three")).unwrap();
        drop(journal);
        let journal = Journal::open(folder.path()).unwrap();
        assert_eq!(journal.scored().unwrap().len(), 2);
        journal.clear().unwrap();
        journal.append(&record("four")).unwrap();
        drop(journal);
        let scored = Journal::open(folder.path()).unwrap().scored().unwrap();
        assert_eq!(scored.keys().collect::<Vec<_>>(), ["four"]);
    }

    #[test]
    fn a_journal_is_open_once() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Journal::open(folder.path()).unwrap();
        let refused = Journal::open(folder.path()).err().unwrap().to_string();
        assert!(refused.contains("another run is writing to"), "{refused}");
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "\nnonsense\n").unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let problem = format!("{:#}", journal.scored().err().unwrap());
        assert!(problem.contains("journal.jsonl, line 2"), "{problem}");
    }
}
