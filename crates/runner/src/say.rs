//! Standard output that may be closed early, as by `runner data | head`.

use std::io::{self, ErrorKind, Write as _};

/// Prints a text. A reader that has gone away is not an error: the program's files matter more.
pub fn say(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(problem) if problem.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line, formatted as by `println!`.
#[macro_export]
macro_rules! say_line {
    ($($arguments:tt)*) => {
        $crate::say::say(&(format!($($arguments)*) + "\n"))
    };
}
