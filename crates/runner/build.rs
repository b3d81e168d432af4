//! Tells the program which sources it is made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What units of work depend on, by variable, from the workspace's root.
const SOURCES: [(&str, &[&str]); 4] = [
    (
        "OTDA_DRAWS",
        &[
            "crates/datasets/src/domain.rs",
            "crates/datasets/src/draw.rs",
            "crates/datasets/src/synthetic.rs",
            "crates/datasets/src/two_moons.rs",
        ],
    ),
    (
        "OTDA_PROTOCOL",
        &[
            "Cargo.lock",
            "crates/baselines/src/nearest",
            "crates/baselines/src/nearest.rs",
            "crates/baselines/src/product.rs",
            "crates/runner/src/config/grid.rs",
            "crates/runner/src/experiment.rs",
            "crates/runner/src/methods/problem.rs",
            "crates/runner/src/methods/unadapted.rs",
            "crates/runner/src/unit.rs",
        ],
    ),
    (
        "OTDA_SOLVERS",
        &[
            "crates/solvers/src",
            "crates/runner/src/costs.rs",
            "crates/runner/src/methods/transport.rs",
            "crates/runner/src/methods/transport_problem.rs",
        ],
    ),
    (
        "OTDA_BASELINES",
        &[
            "crates/baselines/src",
            "crates/runner/src/methods/margins.rs",
            "crates/runner/src/methods/subspaces.rs",
        ],
    ),
];

fn main() {
    // Of this run: clones that share a target folder share the compiled script, too.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&package).join("../..");
    for (variable, sources) in SOURCES {
        let mut files = Vec::new();
        for source in sources {
            collect(&root.join(source), &mut files);
        }
        files.sort();
        let mut hash = Fnv::default();
        for file in files {
            hash.add(file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().as_bytes());
            hash.add(&fs::read(&file).unwrap_or_else(|problem| refuse(&file, &problem)));
        }
        println!("cargo::rustc-env={variable}={:016x}", hash.0);
    }

    // Whether the revision is clean depends on all sources.
    for file in ["crates", "Cargo.lock", ".git/HEAD", ".git/refs/heads", ".git/index"] {
        if root.join(file).exists() {
            println!("cargo::rerun-if-changed={}", root.join(file).display());
        }
    }
    println!("cargo::rustc-env=OTDA_REVISION={}", revision(&root));
}

/// The files in a folder and below, or the file itself.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => {
            for entry in entries {
                collect(&entry.unwrap_or_else(|problem| refuse(path, &problem)).path(), files);
            }
        }
        Err(_) => files.push(path.to_owned()),
    }
}

/// Ends the build: a source that was renamed must not leave its hash without a word, or units of other programs would be
/// taken for ours.
fn refuse(source: &Path, problem: &std::io::Error) -> ! {
    panic!(
        "cannot read the source {}: {problem}; if it has another name now, write that in SOURCES of crates/runner/build.rs",
        source.display()
    )
}

fn revision(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "HEAD"]) {
        None => "unknown".into(),
        Some(commit) => {
            let is_clean =
                git(&["status", "--porcelain", "--untracked-files=no", "crates", "Cargo.lock"])
                    .is_some_and(|changes| changes.is_empty());
            if is_clean { commit } else { commit + "+" }
        }
    }
}

/// FNV-1a with 64 bits: enough to tell versions of a program apart, and no dependency of the build.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
