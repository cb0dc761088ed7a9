//! Limits of the running connection: how long to wait, how much to hold.

use std::time::Duration;

use super::Options;

/// Limits that the connection keeps while an engine runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeLimits {
    /// Limit on the answer to the initialize request. Default: 60 s; a loaded machine needs
    /// several.
    pub initialize: Duration,
    /// Limit on the answer to any other request. Default: 60 s.
    pub request: Duration,
    /// Limit on a permission request before it is denied. Default: 300 s; `None` waits for ever.
    pub permission: Option<Duration>,
    /// Limit on a hook whose matcher names no time. Default: 60 s.
    pub hook: Duration,
    /// The longest line accepted from the engine; a longer one is skipped with a warning.
    /// Default: 64 MiB.
    pub line_bytes: usize,
    /// Number of the last lines of stderr that are kept for errors. Default: 200.
    pub stderr_lines: usize,
    /// Limit on the wait of a query after its last result for the session to become idle. Default:
    /// 600 s, as long as the engine itself waits for background work.
    pub idle_after_result: Duration,
    /// Number of times in a row that hooks may keep the agent from stopping. Default: 10.
    pub stop_blocks: u32,
    /// Steps by which a session is ended.
    pub close: CloseLadder,
    /// Limits on unread messages.
    pub backlog: BacklogLimits,
}

impl Default for RuntimeLimits {
    fn default() -> Self {
        Self {
            initialize: Duration::from_secs(60),
            request: Duration::from_secs(60),
            permission: Some(Duration::from_secs(300)),
            hook: Duration::from_secs(60),
            line_bytes: 64 << 20,
            stderr_lines: 200,
            idle_after_result: Duration::from_secs(600),
            stop_blocks: 10,
            close: CloseLadder::default(),
            backlog: BacklogLimits::default(),
        }
    }
}

/// The steps by which an engine is ended, each with the time it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseLadder {
    /// After its input was closed, when a session is closed in an orderly way; the engine
    /// finishes its transcript in this time. Default: 5 s. A dropped session skips this.
    pub input_closed: Duration,
    /// After SIGTERM, before SIGKILL. Default: 2 s.
    pub terminated: Duration,
}

impl Default for CloseLadder {
    fn default() -> Self {
        Self {
            input_closed: Duration::from_secs(5),
            terminated: Duration::from_secs(2),
        }
    }
}

/// Limits on the lag of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BacklogLimits {
    /// Unread messages held in memory, in bytes; what is more goes to disk. Default: 128 KiB.
    pub memory_bytes: usize,
    /// Unread messages held on disk, in bytes. Default: 4 GiB.
    pub disk_bytes: u64,
}

impl Default for BacklogLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 128 << 10,
            disk_bytes: 4 << 30,
        }
    }
}

impl Options {
    /// Sets how long the engine may take to start. Default: 60 s.
    #[must_use]
    pub fn initialize_timeout(mut self, timeout: Duration) -> Self {
        self.limits.initialize = timeout;
        self
    }

    /// Sets how long the engine may take to answer a request. Default: 60 s.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.limits.request = timeout;
        self
    }

    /// Sets how long a permission question may stay open before it is denied.
    /// Default: 300 s.
    #[must_use]
    pub fn permission_timeout(mut self, timeout: Duration) -> Self {
        self.limits.permission = Some(timeout);
        self
    }

    /// Lets permission questions stay open for ever.
    #[must_use]
    pub fn without_permission_timeout(mut self) -> Self {
        self.limits.permission = None;
        self
    }

    /// Sets how long a hook may run when its matcher names no time. Default: 60 s.
    #[must_use]
    pub fn hook_timeout(mut self, timeout: Duration) -> Self {
        self.limits.hook = timeout;
        self
    }

    /// Sets the longest line accepted from the engine. Default: 64 MiB.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.limits.line_bytes = bytes;
        self
    }

    /// Sets how often in a row hooks may keep the agent from stopping. Default: 10.
    #[must_use]
    pub fn stop_block_limit(mut self, rounds: u32) -> Self {
        self.limits.stop_blocks = rounds;
        self
    }

    /// Sets how many of the last lines of stderr are kept. Default: 200.
    #[must_use]
    pub fn stderr_lines(mut self, lines: usize) -> Self {
        self.limits.stderr_lines = lines;
        self
    }

    /// Sets how long a query waits after its last result for idleness. Default: 600 s.
    #[must_use]
    pub fn idle_ceiling(mut self, timeout: Duration) -> Self {
        self.limits.idle_after_result = timeout;
        self
    }

    /// Sets how long the engine gets to end by itself after its input was closed.
    /// Default: 5 s.
    #[must_use]
    pub fn close_grace(mut self, timeout: Duration) -> Self {
        self.limits.close.input_closed = timeout;
        self
    }

    /// Sets the time between SIGTERM and SIGKILL. Default: 2 s.
    #[must_use]
    pub fn kill_grace(mut self, timeout: Duration) -> Self {
        self.limits.close.terminated = timeout;
        self
    }

    /// Sets how many bytes of unread messages are held in memory, and beyond that on disk.
    /// Default: 128 KiB and 4 GiB.
    #[must_use]
    pub fn backlog_limits(mut self, memory_bytes: usize, disk_bytes: u64) -> Self {
        self.limits.backlog = BacklogLimits {
            memory_bytes,
            disk_bytes,
        };
        self
    }
}
