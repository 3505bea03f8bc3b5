//! The `throng` program.

fn main() {}
