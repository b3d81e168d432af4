//! Drawings as SVG text. Colours are classes of the stylesheet, so that they follow the page's theme.

use super::html::escape;

/// A place in a drawing, from the upper left.
pub type At = (f64, f64);

/// An SVG that grows.
pub struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub fn line(&mut self, from: At, to: At, class: &str) {
        self.body += &format!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
    }

    /// A line through points.
    pub fn curve(&mut self, points: &[At], class: &str) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
        self.body += &format!("<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    /// Many lines at once.
    pub fn segments(&mut self, segments: &[(At, At)], class: &str) {
        let path: String = segments
            .iter()
            .map(|(from, to)| {
                format!("M{} {}L{} {}", number(from.0), number(from.1), number(to.0), number(to.1))
            })
            .collect::<Vec<_>>()
            .concat();
        self.body += &format!("<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// A disc; `hint` is shown while the pointer is over it, unless it is empty.
    pub fn disc(&mut self, at: At, radius: f64, class: &str, hint: &str) {
        let shape = format!(
            "circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"",
            number(at.0),
            number(at.1),
            number(radius)
        );
        self.shape("circle", &shape, hint);
    }

    /// A rectangle by its upper left corner and its size. `fill` replaces the class's colour, unless it is empty.
    pub fn rectangle(&mut self, at: At, size: (f64, f64), class: &str, fill: &str, hint: &str) {
        let fill = if fill.is_empty() { String::new() } else { format!(" fill=\"{fill}\"") };
        let shape = format!(
            "rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{fill}",
            number(at.0),
            number(at.1),
            number(size.0),
            number(size.1)
        );
        self.shape("rect", &shape, hint);
    }

    /// A text; the classes `end` and `middle` say which part of it is at the place.
    pub fn text(&mut self, at: At, class: &str, text: &str) {
        self.body += &format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(at.0),
            number(at.1),
            escape(text)
        );
    }

    /// A text that reads upwards.
    pub fn upward_text(&mut self, at: At, text: &str) {
        let (x, y) = (number(at.0), number(at.1));
        self.body += &format!(
            "<text class=\"axis-name middle\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{}</text>",
            escape(text)
        );
    }

    /// A picture that is part of the drawing, its pixels sharp.
    pub fn picture(&mut self, at: At, size: (f64, f64), address: &str) {
        self.body += &format!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" style=\"image-rendering:pixelated\" \
             href=\"{}\"/>",
            number(at.0),
            number(at.1),
            number(size.0),
            number(size.1),
            escape(address)
        );
    }

    /// For a page that has the stylesheet. `label` is for those who do not see it.
    pub fn into_inline(self, label: &str) -> String {
        let (width, height) = (number(self.width), number(self.height));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            escape(label),
            self.body
        )
    }

    /// For a file of its own, which brings its style.
    pub fn into_file(self, label: &str, style: &str) -> String {
        let (width, height) = (number(self.width), number(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\"><title>{}</title><style>{style}</style>\
             <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>{}</svg>\n",
            escape(label),
            self.body
        )
    }

    fn shape(&mut self, name: &str, shape: &str, hint: &str) {
        self.body += &if hint.is_empty() {
            format!("<{shape}/>")
        } else {
            format!("<{shape}><title>{}</title></{name}>", escape(hint))
        };
    }
}

/// A coordinate to a hundredth, without what a reader does not need.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_hints_are_escaped_and_numbers_are_short() {
        let mut drawing = Drawing::new(10.0, 20.5);
        drawing.text((1.0, 2.25), "end", "a<b");
        drawing.disc((1.0 / 3.0, 2.0), 1.0, "dot", "\"&");
        let svg = drawing.into_inline("<label>");
        assert!(svg.contains("viewBox=\"0 0 10 20.5\""), "{svg}");
        assert!(svg.contains("<text class=\"end\" x=\"1\" y=\"2.25\">a&lt;b</text>"), "{svg}");
        assert!(svg.contains("cx=\"0.33\"") && svg.contains("<title>&quot;&amp;</title></circle>"));
        assert!(svg.contains("aria-label=\"&lt;label&gt;\""), "{svg}");
    }
}
