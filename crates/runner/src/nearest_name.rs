//! "Did you mean": the valid name nearest to one that is not.

/// ` Did you mean "x"?` for the nearest of the known names, or nothing if none is near.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name = name.to_lowercase();
    let near =
        known.into_iter().filter_map(|candidate| Some((distance(&name, candidate)?, candidate)));
    near.min_by_key(|(distance, _)| *distance)
        .map_or(String::new(), |(_, candidate)| format!(" Did you mean {candidate:?}?"))
}

/// How far a name is from a known one; none if it is too far from both it and its first word, as `ofice` from
/// `office-surf`. A beginning is nearer than any misspelling.
fn distance(name: &str, known: &str) -> Option<usize> {
    let known = known.to_lowercase();
    let word = known.split('-').next().unwrap_or_default();
    if name.len() > 2 && known.starts_with(name) {
        return Some(0);
    }
    let near = |known: &str| {
        let distance = strsim::damerau_levenshtein(name, known);
        (distance <= known.len().max(2) / 2).then_some(distance)
    };
    // Names of one letter are all alike.
    near(&known).or_else(|| near(word).filter(|_| word.len() > 3))
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn what_is_meant_begins_alike_or_is_misspelt() {
        let sets = ["digits", "office-surf", "pie"];
        assert_eq!(suggestion("ofice", sets), " Did you mean \"office-surf\"?");
        assert_eq!(suggestion("Ofice-Surf", sets), " Did you mean \"office-surf\"?");
        assert_eq!(suggestion("ot-lap", ["ot-gl", "ot-laplace"]), " Did you mean \"ot-laplace\"?");
        assert_eq!(suggestion("caltech", sets), "");
        assert_eq!(suggestion("", sets), "");
    }
}
