//! Where data is looked for, and where a download goes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folders that may hold data, in the order in which they are asked.
#[derive(Debug, Clone)]
pub struct DataRoots {
    roots: Vec<PathBuf>,
    download: PathBuf,
}

/// The environment that decides the roots, apart from the process so that tests can state it.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `--data DIR`.
    pub data_option: Option<PathBuf>,
    /// `OTDA_DATA`.
    pub otda_data: Option<OsString>,
    /// The folder that the program runs in.
    pub current_folder: PathBuf,
    /// `XDG_CACHE_HOME`.
    pub cache_home: Option<OsString>,
    /// `HOME`, or what stands for it.
    pub home: Option<OsString>,
}

impl Environment {
    /// This process's environment.
    #[must_use]
    pub fn of_process(data_option: Option<PathBuf>) -> Self {
        Self {
            data_option,
            otda_data: std::env::var_os("OTDA_DATA"),
            current_folder: std::env::current_dir().unwrap_or_default(),
            cache_home: std::env::var_os("XDG_CACHE_HOME"),
            home: std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")),
        }
    }
}

impl DataRoots {
    /// `--data`, then `OTDA_DATA`, then `data/` in the workspace, then the user's cache.
    /// A download goes to the first of them that was named or exists, and else to the cache.
    #[must_use]
    pub fn new(environment: &Environment) -> Self {
        let set = |variable: &Option<OsString>| {
            variable.as_ref().filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let workspace = environment
            .current_folder
            .ancestors()
            .find(|folder| folder.join("Cargo.lock").is_file())
            .unwrap_or(&environment.current_folder)
            .join("data");
        let cache = set(&environment.cache_home)
            .or_else(|| set(&environment.home).map(|home| home.join(".cache")))
            .unwrap_or_else(std::env::temp_dir)
            .join("otda");
        let named = environment.data_option.clone().into_iter().chain(set(&environment.otda_data));
        let mut roots: Vec<PathBuf> = named.collect();
        let download = match roots.first() {
            Some(named) => named.clone(),
            None if workspace.is_dir() => workspace.clone(),
            None => cache.clone(),
        };
        roots.extend([workspace, cache]);
        Self { roots, download }
    }

    /// The folders, in the order in which they are asked.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.roots
    }

    /// A file of a set: `<root>/<folder>/<file>`, or `<root>/<file>` in a flat folder.
    #[must_use]
    pub fn find(&self, folder: &str, file: &str) -> Option<PathBuf> {
        self.roots
            .iter()
            .flat_map(|root| [root.join(folder).join(file), root.join(file)])
            .find(|path| path.is_file())
    }

    /// A user's own file: beside the config that names it, or below a root.
    #[must_use]
    pub fn find_own(&self, config_folder: &Path, file: &Path) -> Option<PathBuf> {
        std::iter::once(config_folder)
            .chain(self.roots.iter().map(PathBuf::as_path))
            .map(|root| root.join(file))
            .find(|path| path.is_file())
    }

    /// The folder that a set's files are downloaded to.
    #[must_use]
    pub fn download_folder(&self, folder: &str) -> PathBuf {
        self.download.join(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_wins_over_the_variable_and_the_variable_over_workspace_and_cache() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["option", "variable", "work/data", "cache/otda"] {
            std::fs::create_dir_all(at(name).join("pie")).unwrap();
            std::fs::write(at(name).join("pie/PIE05.mat"), name).unwrap();
        }
        std::fs::write(at("work/Cargo.lock"), "").unwrap();
        let mut environment = Environment {
            data_option: Some(at("option")),
            otda_data: Some(at("variable").into()),
            current_folder: at("work"),
            cache_home: Some(at("cache").into()),
            home: None,
        };
        for (order, expected) in
            ["option", "variable", "work/data", "cache/otda"].iter().enumerate()
        {
            let roots = DataRoots::new(&environment);
            assert_eq!(roots.find("pie", "PIE05.mat"), Some(at(expected).join("pie/PIE05.mat")));
            assert_eq!(roots.download_folder("pie"), at(expected).join("pie"));
            match order {
                0 => environment.data_option = None,
                1 => environment.otda_data = None,
                _ => std::fs::remove_dir_all(at("work/data")).unwrap_or_default(),
            }
        }
    }

    #[test]
    fn a_flat_folder_of_files_is_found_too() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("PIE05.mat"), "").unwrap();
        let environment =
            Environment { data_option: Some(folder.path().to_owned()), ..Environment::default() };
        assert!(DataRoots::new(&environment).find("pie", "PIE05.mat").is_some());
    }
}
