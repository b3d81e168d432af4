//! `runner`: from a config to the paper's tables, and the data behind them.

mod adapt_command;
mod adapt_input;
mod adapt_output;
mod adapt_solvers;
mod cli;
mod compare_command;
mod config;
mod costs;
mod data_command;
mod experiment;
mod figures;
mod figures_command;
mod history;
mod history_command;
mod journal;
mod layout;
mod manifest;
mod memory;
mod methods;
mod missing_pairs;
mod nearest_name;
mod paper;
mod progress;
mod report;
mod report_command;
mod results_folder;
mod run_command;
mod runs;
mod say;
mod scores;
mod session;
mod statistics;
mod sweep;
mod table;
mod tables_command;
mod unit;
mod version;
mod writable;

use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let arguments = cli::Arguments::of_process();
    let is_run = arguments.run != cli::RunArguments::default();
    match arguments.command {
        Some(_) if is_run => {
            anyhow::bail!(
                "a config and its options do not go with a subcommand: give one or the other"
            )
        }
        Some(cli::Command::Data(data)) => data_command::run(&data, &arguments.location),
        Some(cli::Command::Adapt(adapt)) => adapt_command::run(&adapt),
        Some(cli::Command::Tables { folders }) => tables_command::run(&folders),
        Some(cli::Command::Compare { first, second }) => compare_command::run(&first, &second),
        Some(cli::Command::Report { folders }) => report_command::run(&folders),
        Some(cli::Command::History(history)) => history_command::run(&history, &arguments.location),
        Some(cli::Command::Figures { out }) => figures_command::run(&out, &arguments.location),
        None => run_command::run(&arguments.run, &arguments.location),
    }
}
