//! What can be typed after `runner`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Reproduces the tables of "Optimal Transport for Domain Adaptation".
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(flatten)]
    pub run: RunArguments,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists, downloads and summarises the data sets
    Data(DataArguments),
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The experiment, for example configs/office.toml
    pub config: Option<PathBuf>,
    /// Runs this many trials instead of the config's
    #[arg(long, value_name = "N")]
    pub trials: Option<u64>,
    /// Runs these pairs only, for example C-A,D-W
    #[arg(long, value_delimiter = ',', value_name = "PAIRS")]
    pub pairs: Option<Vec<String>>,
    /// Runs these methods only, for example 1nn
    #[arg(long, value_delimiter = ',', value_name = "METHODS")]
    pub methods: Option<Vec<String>>,
    /// Draws with this seed instead of the config's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Uses this many threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Writes the tables to this folder [default: results/<name>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prints the table and nothing else
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub location: DataLocation,
}

#[derive(Debug, Args)]
pub struct DataLocation {
    /// Looks for data in this folder first, and downloads to it
    #[arg(long, value_name = "DIR", global = true)]
    pub data: Option<PathBuf>,
    /// Downloads from this address, which serves <repository>/<commit>/<path>
    #[arg(long, value_name = "URL", global = true, env = "OTDA_MIRROR")]
    pub mirror: Option<String>,
}

#[derive(Debug, Args)]
pub struct DataArguments {
    #[command(subcommand)]
    pub command: Option<DataCommand>,
    #[command(flatten)]
    pub location: DataLocation,
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Downloads sets, for example: fetch office-surf digits
    Fetch {
        /// The sets' names, as listed by `runner data`
        #[arg(required = true, value_name = "SET")]
        sets: Vec<String>,
    },
    /// Prints the paper's Table 2 from the files that are here
    Summary {
        /// How to print it
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Csv,
    Json,
}
