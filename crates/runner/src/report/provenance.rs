//! Where the results come from: how to make them and the page again, on what and with what they were made.

use anyhow::Result;

use super::Subject;
use super::config_text::config_text;
use super::html::escape;
use crate::manifest::Origin;
use crate::progress::duration;

/// The manifest, the config and the commands.
pub fn provenance(subject: &Subject<'_>, report_command: &str) -> Result<String> {
    let manifest = &subject.results.manifest;
    let Origin { program, machine, started, .. } = &manifest.origin;
    let facts = [
        ("began", started.clone()),
        ("time of all units", duration(manifest.unit_seconds)),
        ("units", format!("{}, {} of them failed", manifest.units, manifest.failed)),
        ("trials", format!("{}, seed {}", manifest.experiment.trials, manifest.experiment.seed)),
        ("machine", format!("{}, {} threads", machine.cpu, machine.threads)),
        ("program", format!("runner {}, revision {}", program.release, program.revision)),
        ("draws", program.draws.clone()),
        ("protocol", program.protocol.clone()),
        ("solvers", program.solvers.clone()),
        ("baselines", program.baselines.clone()),
    ];
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value)))
        .collect::<Vec<_>>()
        .concat();
    let checksums: String = manifest
        .checksums
        .iter()
        .flatten()
        .map(|(domain, sum)| format!("<dt>domain {}</dt><dd>{}</dd>", escape(domain), escape(sum)))
        .collect::<Vec<_>>()
        .concat();
    let config = match config_text(&manifest.experiment) {
        Ok(text) => copied("config", &text),
        // A seed beyond TOML's integers, for example: the manifest still has everything.
        Err(_) => {
            "<p>This experiment cannot be written as a config; the manifest has it.</p>".into()
        }
    };
    Ok(format!(
        "<h4>Make these results again</h4>{}<h4>Make this page again</h4>{}\
         <dl class=\"facts\">{facts}{checksums}</dl>\
         <details><summary>Config with every default written out</summary>{config}</details>\
         <details><summary>Manifest</summary>{}</details>",
        copied("command", &manifest.command),
        copied("command", report_command),
        copied("manifest", &serde_json::to_string_pretty(manifest)?)
    ))
}

/// A text with a button that copies it.
fn copied(what: &str, text: &str) -> String {
    format!(
        "<div class=\"copied\"><pre tabindex=\"0\">{}</pre><button type=\"button\" class=\"copy\" \
         aria-label=\"Copy the {what}\">Copy</button></div>",
        escape(text)
    )
}
