//! What the whole page has to hold.
