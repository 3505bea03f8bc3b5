//! Ctrl-C and SIGTERM: end at once with the usual code, and leave no temporary file behind.

/// Installs the handlers.
#[cfg(unix)]
pub(crate) fn install() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            throng::output::abandon();
            // As a shell says it: 128 and the signal's number.
            std::process::exit(128 + signal);
        }
    });
}

/// Elsewhere the system's own handling does.
#[cfg(not(unix))]
pub(crate) fn install() {}
