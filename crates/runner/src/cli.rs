//! What can be typed after `runner`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::costs::{Cost, Normalize};
use crate::methods::METHODS;
use crate::nearest_name::suggestion;

/// Reproduces the tables of "Optimal Transport for Domain Adaptation".
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, subcommand_precedence_over_arg = true)]
pub struct Arguments {
    #[command(flatten)]
    pub run: RunArguments,
    #[command(flatten)]
    pub location: DataLocation,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Arguments {
    /// What was typed. A misspelt subcommand is taken for a config, so that what follows it seems to be wrong.
    pub fn of_process() -> Self {
        Self::try_parse().unwrap_or_else(|problem| {
            let first = std::env::args().nth(1).unwrap_or_default();
            let nearest = nearest_subcommand(&first);
            if problem.kind() == ErrorKind::UnknownArgument && !nearest.is_empty() {
                let text = format!("there is no subcommand {first:?}.{nearest}");
                Self::command().error(ErrorKind::InvalidSubcommand, text).exit();
            }
            problem.exit()
        })
    }
}

/// ` Did you mean "tables"?`, if a word is like a subcommand.
pub fn nearest_subcommand(word: &str) -> String {
    suggestion(word, Arguments::command().get_subcommands().map(clap::Command::get_name))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists, downloads and summarises the data sets
    Data(DataArguments),
    /// Adapts your own samples and prints a JSON report
    // What is wrong with a negative weight is for the solvers to say.
    #[command(allow_negative_numbers = true)]
    Adapt(AdaptArguments),
    /// Makes the tables of folders of results again, from their stores
    Tables {
        /// For example results/office
        #[arg(required = true, value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
    /// Writes report.html, a page of the results of folders, into the first of them
    Report {
        /// For example results/office
        #[arg(required = true, value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
    /// Solves one unit of a folder again and adds the course of its iterations to the report
    History(HistoryArguments),
    /// Draws the paper's figures as SVG files
    Figures {
        /// Writes them to this folder
        #[arg(long, value_name = "DIR", default_value = "results/figures")]
        out: PathBuf,
    },
    /// Compares two runs, or two methods, over the same draws
    Compare {
        /// A folder of results, or one method of it: results/office:ot-gl
        #[arg(value_name = "DIR[:METHOD]")]
        first: String,
        /// What it is compared with
        #[arg(value_name = "DIR[:METHOD]")]
        second: String,
    },
}

#[derive(Debug, Default, PartialEq, Eq, Args)]
pub struct RunArguments {
    /// The experiment, for example configs/office.toml
    pub config: Option<PathBuf>,
    /// Runs this many trials instead of the config's
    #[arg(long, value_name = "N")]
    pub trials: Option<u64>,
    /// Runs these pairs only, for example C-A,D-W
    #[arg(long, value_delimiter = ',', value_name = "PAIRS")]
    pub pairs: Option<Vec<String>>,
    #[arg(long, value_delimiter = ',', value_name = "METHODS", help = methods_help())]
    pub methods: Option<Vec<String>>,
    /// Draws with this seed instead of the config's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Uses this many threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Writes the results to this folder [default: results/<name>, or results/<name>/partial if another
    /// option changes what the config runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Starts over instead of going on where an earlier run of the same experiment ended
    #[arg(long)]
    pub fresh: bool,
    /// Prints the table and nothing else
    #[arg(short, long)]
    pub quiet: bool,
}

fn methods_help() -> String {
    let known: Vec<&str> = METHODS.iter().map(|method| method.id).collect();
    format!(
        "Runs these methods only, by the config's names or with the paper's grids: {}",
        known.join(", ")
    )
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

#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// A folder of results, for example results/office
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// A method that the conditional gradient solves [default: the first one of the folder]
    #[arg(long)]
    pub method: Option<String>,
    /// For example C-A [default: the first one]
    #[arg(long)]
    pub pair: Option<String>,
    /// From 1
    #[arg(long, default_value_t = 1)]
    pub trial: u64,
}

#[derive(Debug, Args)]
pub struct AdaptArguments {
    /// The solver
    #[arg(long, value_enum)]
    pub method: AdaptMethod,
    /// λ, the weight of the entropy (all but ot-exact)
    #[arg(long)]
    pub lambda: Option<f64>,
    /// η, the weight of the class regularizer (ot-gl, ot-laplace, ot-lpl1)
    #[arg(long)]
    pub eta: Option<f64>,
    /// The duality gap, relative to the objective, that is enough (all but ot-exact) [default: 1e-6; ot-it: marginals to 1e-10]
    #[arg(long, value_parser = positive)]
    pub gap: Option<f64>,
    /// Solves this many times and reports the seconds of the last: the first one also gets its memory from the system
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeat: u16,
    /// Source samples, in any format that configs take
    #[arg(long, value_name = "FILE")]
    pub source: PathBuf,
    /// Source labels, which ot-gl, ot-laplace, ot-lpl1, --predict and --target-labels need [default: those in the
    /// source's file]
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Target samples
    #[arg(long, value_name = "FILE")]
    pub target: PathBuf,
    /// Target labels, -1 where not known: the plan respects them; if all are known, they only score the
    /// prediction
    #[arg(long, value_name = "FILE")]
    pub target_labels: Option<PathBuf>,
    /// The cost between two samples
    #[arg(long, value_enum, default_value_t = Cost::Sqeuclidean)]
    pub cost: Cost,
    /// What the costs are divided by
    #[arg(long, value_enum, default_value_t = Normalize::None)]
    pub normalize: Normalize,
    /// Writes the transported source samples (.npy or .csv)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Writes the transport plan (.npy or .csv)
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Writes the labels that 1NN predicts for the target (.npy or .csv)
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if 0.0 < number && number < f64::INFINITY => Ok(number),
        _ => Err("it is a positive number, for example 1e-6".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AdaptMethod {
    OtExact,
    OtIt,
    OtGl,
    OtLaplace,
    OtLpl1,
}

impl std::fmt::Display for AdaptMethod {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::OtExact => "ot-exact",
            Self::OtIt => "ot-it",
            Self::OtGl => "ot-gl",
            Self::OtLaplace => "ot-laplace",
            Self::OtLpl1 => "ot-lpl1",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Csv,
    Json,
}
