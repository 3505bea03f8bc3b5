//! Progress on a terminal, for what takes longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on stderr that shows itself after a second; nothing where stderr is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: bool,
}

impl Progress {
    /// A bar over `length` steps of `what`.
    pub(crate) fn new(what: &'static str, length: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        // A quiet bar counts as shown already: it never is.
        Self { bar, begun: Instant::now(), shown: quiet }
    }

    /// One step is done.
    pub(crate) fn step(&mut self) {
        if !self.shown && self.begun.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
