//! The `throng` program: parse, dispatch, say what went wrong, exit with the documented code.

use std::io::{self, IsTerminal as _, Write as _};
use std::panic;
use std::process::ExitCode;

use clap::Parser as _;

mod cli;
mod command;
mod failure;
mod open;
mod orbit;
mod panel;
mod progress;
mod signals;
mod window;

use cli::{Cli, Color, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => log::LevelFilter::Error,
        (false, 0) => log::LevelFilter::Warn,
        (false, 1) => log::LevelFilter::Info,
        (false, _) => log::LevelFilter::Debug,
    };
    env_logger::Builder::new()
        .filter_level(if cli.verbose > 1 { log::LevelFilter::Info } else { log::LevelFilter::Error })
        .filter_module("throng", level)
        .parse_default_env()
        .format(|buffer, record| {
            writeln!(buffer, "{}: {}", record.level().as_str().to_lowercase(), record.args())
        })
        .init();
    signals::install();
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        command::complain(&format!("internal error{place}: {}", panic_text(info.payload())));
        command::complain("  this is a fault of throng: please report it, with the command and the input");
    }));
    let quiet = cli.quiet;
    let color = match cli.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    match panic::catch_unwind(|| run(cli)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Ok(Err(Failure::Stdout(error))) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            let (on, off) = if color { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
            command::complain(&format!("{on}error{off}: {failure}"));
            if let Some(hint) = failure.hint().filter(|_| !quiet) {
                command::complain(&format!("  {hint}"));
            }
            ExitCode::from(failure.code())
        }
        Err(_) => ExitCode::from(70),
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

fn run(cli: Cli) -> Result<(), Failure> {
    let talk = command::Talk { quiet: cli.quiet };
    match cli.command {
        None => command::demo::run(talk),
        Some(Command::Import(arguments)) => command::import::run(&arguments, talk),
        Some(Command::Bake(arguments)) => command::bake::run(&arguments, talk),
        Some(Command::Inspect(arguments)) => command::inspect::run(&arguments),
        Some(Command::Sample(arguments)) => command::sample::run(&arguments),
        Some(Command::Capture(arguments)) => command::capture::run(&arguments, talk),
        Some(Command::View(arguments)) => command::view::run(&arguments, talk),
        Some(Command::Doctor(arguments)) => command::doctor::run(&arguments),
        Some(Command::Completions(arguments)) => command::completions::run(&arguments),
    }
}
