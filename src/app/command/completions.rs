use clap::CommandFactory as _;

use super::print;
use crate::cli::{Cli, Completions};
use crate::failure::Failure;

pub(crate) fn run(arguments: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "throng", &mut script);
    print(&script)
}
