//! "Did you mean": the valid name nearest to one that is not.

/// ` Did you mean "x"?` for the nearest of the known names, or nothing if none is near.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let closest = known
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .min();
    match closest {
        Some((distance, candidate)) if distance <= candidate.len().max(2) / 2 => {
            format!(" Did you mean {candidate:?}?")
        }
        _ => String::new(),
    }
}
