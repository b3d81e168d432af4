//! The page around tables and plots.

use anyhow::Result;

use super::Subject;
use super::embedded::Figure;
use super::html::{escape, pretty};
use super::plots::{self, Plot, Solves};
use super::provenance::provenance;
use super::table::table;
use super::warnings::warnings;
use crate::layout::Tables;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Nothing may be loaded from anywhere.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The whole page. `command` writes it again.
pub fn page(subjects: &[Subject<'_>], figures: &[Figure], command: &str) -> Result<String> {
    let names: Vec<&str> =
        subjects.iter().map(|subject| subject.results.manifest.experiment.name.as_str()).collect();
    let title = format!("{} · Optimal transport for domain adaptation", names.join(", "));
    let mut entries: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(place, name)| format!("<a href=\"#folder-{place}\">{}</a>", escape(&pretty(name))))
        .collect();
    let mut sections = String::new();
    for (place, subject) in subjects.iter().enumerate() {
        sections += &section(place, subject, command)?;
    }
    if !figures.is_empty() {
        entries.push("<a href=\"#figures\">figures</a>".into());
        sections += &figure_section(figures);
    }
    let navigation = if entries.len() > 1 {
        format!("<nav aria-label=\"Contents\">{}</nav>", entries.join(""))
    } else {
        String::new()
    };
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><p class=\"kicker\">Results</p><h1>Optimal transport for domain adaptation</h1>\
         {navigation}</header>\n<main>\n{sections}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&title)
    ))
}

fn section(place: usize, subject: &Subject<'_>, command: &str) -> Result<String> {
    let experiment = &subject.results.manifest.experiment;
    let tables = Tables::of(experiment, &subject.scores);
    let has_paper = tables.differences.is_some();
    let near = tables.differences.map(|(_, line)| format!(" {line}")).unwrap_or_default();
    let pairs: usize = subject.scores.sections.iter().map(|section| section.pairs.len()).sum();
    let lead = format!(
        "{}, mean of {}: {} on {}.{near}",
        tables.caption,
        counted(experiment.trials, "trial"),
        counted(experiment.methods.len() as u64, "method"),
        counted(pairs as u64, "pair"),
    );
    let mut html = format!(
        "<section class=\"folder\" id=\"folder-{place}\">\n<h2>{}</h2>\n<p class=\"lead\">{}</p>\n",
        escape(&pretty(&experiment.name)),
        escape(&lead)
    );
    html += &format!("{}{}\n", controls(tables.caption, has_paper), table(subject));
    html += &warning_box(&warnings(subject));
    html += &wide("Accuracy by method", &plots::accuracy(subject));
    html += &wide("Which methods differ", &plots::critical_difference(subject));
    let grids = plots::grids(subject);
    html += &gallery(
        "Accuracy over the grids",
        "Mean over all pairs and trials, on the labels on which a grid point is chosen, in %. The larger a disc, the \
         more often its point was chosen.",
        &grids,
    );
    html += &convergence(subject);
    html += &wide("Time", plots::times(subject).as_slice());
    html += &format!("<h3>Provenance</h3>{}\n</section>\n", provenance(subject, command)?);
    Ok(html)
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What the table shows, and what its colours mean.
fn controls(caption: &str, has_paper: bool) -> String {
    let views = [
        ("value", caption),
        ("error", "Standard error"),
        ("difference", "Difference to the paper"),
        ("rank", "Rank"),
    ];
    let buttons: String = views
        .iter()
        .filter(|(view, _)| has_paper || *view != "difference")
        .enumerate()
        .map(|(place, (view, text))| {
            format!(
                "<button type=\"button\" data-view=\"{view}\" aria-pressed=\"{}\">{}</button>",
                place == 0,
                escape(text)
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let colours = if has_paper {
        "<span class=\"swatch below\"></span>worse than the paper<span class=\"swatch above\"></span>better"
    } else {
        ""
    };
    format!(
        "<div class=\"controls\"><div class=\"views\" role=\"group\" aria-label=\"What the table shows\">{buttons}\
         </div><p class=\"key\">{colours}<span class=\"bold-key\">bold</span>best of its row</p></div>"
    )
}

fn warning_box(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings
        .iter()
        .map(|warning| format!("<li>{}</li>", escape(warning)))
        .collect::<Vec<_>>()
        .concat();
    format!("<aside class=\"warnings\"><h3>To know</h3><ul>{items}</ul></aside>\n")
}

fn plot_html(plot: &Plot, class: &str) -> String {
    let note =
        if plot.note.is_empty() { String::new() } else { format!("<p>{}</p>", escape(&plot.note)) };
    format!(
        "<figure class=\"{class}\"><figcaption><strong>{}</strong>{note}</figcaption>\
         <div class=\"scroll\">{}</div></figure>\n",
        escape(&plot.title),
        plot.svg
    )
}

fn wide(title: &str, plots: &[Plot]) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let figures: String = plots.iter().map(|plot| plot_html(plot, "wide")).collect();
    format!("<h3>{title}</h3>\n{figures}")
}

fn gallery(title: &str, note: &str, plots: &[Plot]) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let figures: String = plots.iter().map(|plot| plot_html(plot, "small")).collect();
    format!(
        "<h3>{title}</h3>\n<p class=\"note\">{note}</p>\n<div class=\"gallery\">{figures}</div>\n"
    )
}

/// How the solvers ended: a table, where they did not converge, and how the iterations went.
fn convergence(subject: &Subject<'_>) -> String {
    let solves = plots::solves(subject);
    if solves.is_empty() {
        return String::new();
    }
    let rows: String = solves.iter().map(row_of_solves).collect();
    let mut html = format!(
        "<h3>Convergence</h3>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">method</th>\
         <th scope=\"col\">solves</th><th scope=\"col\">median iterations</th><th scope=\"col\">stalled</th>\
         <th scope=\"col\">at the limit</th><th scope=\"col\">largest gap of these</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>\n"
    );
    html += &gallery(
        "Where solvers did not converge",
        "How many solves ended before their tolerance was reached; empty where all converged.",
        &plots::convergence(subject),
    );
    html += &gallery(
        "Gap and iterations",
        "Each dot is the solve of a chosen point on the test samples; rings did not converge.",
        &plots::gaps(subject),
    );
    let is_ours = |key: &str| subject.results.records.iter().any(|record| record.key == key);
    let history = subject.history.filter(|history| is_ours(&history.key));
    html + &wide("Iterations of one unit", history.and_then(plots::history).as_slice())
}

fn row_of_solves(solves: &Solves) -> String {
    let gap = solves.largest_gap.map(|gap| format!("{gap:.1e}")).unwrap_or_default();
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{gap}</td></tr>",
        escape(&solves.name),
        solves.count,
        solves.iterations,
        solves.stalled,
        solves.limited
    )
}

fn figure_section(figures: &[Figure]) -> String {
    let figures: String = figures.iter().map(figure_html).collect();
    format!(
        "<section id=\"figures\">\n<h2>The paper’s figures, from our own runs</h2>\n{figures}</section>\n"
    )
}

fn figure_html(figure: &Figure) -> String {
    let caption = escape(figure.caption);
    format!(
        "<figure class=\"wide\"><div class=\"scroll\"><img alt=\"{caption}\" src=\"{}\"></div>\
         <figcaption><p>{caption}</p></figcaption></figure>\n",
        figure.address
    )
}
