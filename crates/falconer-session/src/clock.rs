//! What time it is, for the stamps of events. Limits use the monotonic clock instead.

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now, in RFC 3339.
    fn now(&self) -> String;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> String {
        format!("{:.3}", jiff::Timestamp::now())
    }
}
