//! `runner`: from a config to the paper's tables, and the data behind them.

mod adapt_command;
mod cli;
mod config;
mod data_command;
mod experiment;
mod methods;
mod nearest_name;
mod paper;
mod progress;
mod run_command;
mod scores;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

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
    let arguments = cli::Arguments::parse();
    match arguments.command {
        Some(cli::Command::Data(data)) => data_command::run(&data),
        Some(cli::Command::Adapt(adapt)) => adapt_command::run(&adapt),
        None => run_command::run(&arguments.run),
    }
}
