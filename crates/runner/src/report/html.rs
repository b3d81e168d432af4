//! Text that is put into HTML and SVG.

/// A text as text: nothing of it is taken for markup, be it in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // XML has no place for these, not even escaped.
            control if control.is_control() && !"\n\t".contains(control) => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// The name of a pair or a hyper-parameter as people write it.
pub fn pretty(name: &str) -> String {
    match name {
        "lambda" => "λ".into(),
        "eta" => "η".into(),
        "alpha" => "α".into(),
        "gamma" => "γ".into(),
        other => other.replace("->", " → ").replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_stays_text() {
        assert_eq!(
            escape("<script>alert('\"&\u{1}')</script>"),
            "&lt;script&gt;alert(&#39;&quot;&amp;\u{fffd}&#39;)&lt;/script&gt;"
        );
        assert_eq!(escape(&pretty("C->A")), "C → A");
    }
}
