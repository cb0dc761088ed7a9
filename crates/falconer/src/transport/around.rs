//! Something put around the transport of every connection: a recorder, a counter, a fault.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Link, Transport};
use crate::error::Error;
use crate::options::Options;

type Wrap = dyn Fn(Box<dyn Transport>) -> Box<dyn Transport> + Send + Sync;

/// Makes one transport of another.
#[derive(Clone)]
pub(crate) struct Around(Arc<Wrap>);

impl fmt::Debug for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Around")
    }
}

impl Options {
    /// Puts something around the transport to the engine, whichever engine it is: what it is
    /// given is about to be opened, what it gives is opened instead.
    ///
    /// Called once for each connection. The recorder of the test kit is made for this:
    /// `.around_transport(move |transport| Box::new(record(transport, file)))`.
    #[must_use]
    pub fn around_transport(
        mut self,
        around: impl Fn(Box<dyn Transport>) -> Box<dyn Transport> + Send + Sync + 'static,
    ) -> Self {
        self.around = Some(Around(Arc::new(around)));
        self
    }

    /// The transport with what was put around it.
    pub(crate) fn wrapped(&self, transport: Box<dyn Transport>) -> Box<dyn Transport> {
        match &self.around {
            Some(around) => (around.0)(transport),
            None => transport,
        }
    }
}

impl Transport for Box<dyn Transport> {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, Error>> {
        (*self).open()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Client;
    use crate::engine_choice::{EngineLaunch, InProcessEngine};

    /// An engine that is gone at once.
    #[derive(Debug)]
    struct Gone;

    impl InProcessEngine for Gone {
        fn name(&self) -> &str {
            "gone"
        }

        fn open(&self, _: EngineLaunch) -> BoxFuture<'static, Result<Link, Error>> {
            let (transport, _engine) = super::super::channel();
            Box::new(transport).open()
        }
    }

    #[tokio::test]
    async fn what_is_put_around_sees_every_connection() {
        let opened = Arc::new(AtomicUsize::new(0));
        let seen = opened.clone();
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new().cwd(directory.path()).engine(Gone);
        let options = options.around_transport(move |transport| {
            seen.fetch_add(1, Ordering::SeqCst);
            Box::new(transport)
        });
        for expected in 1..=2 {
            assert!(Client::connect(options.clone()).await.is_err());
            assert_eq!(opened.load(Ordering::SeqCst), expected);
        }
    }
}
