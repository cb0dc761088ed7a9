//! A provider that can be made anew while a session runs, when the host sends other keys.

use std::sync::{Arc, Mutex, PoisonError};

use falconer_secret::Environment;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    ApiFailure, ApiRequest, Capabilities, ConnectError, Provider, ProviderSettings, RequestBody,
    Streaming, connect,
};

/// The provider of an environment, as of the last time somebody looked at it.
#[derive(Debug)]
pub struct Renewable {
    environment: Arc<Environment>,
    settings: ProviderSettings,
    current: Mutex<Arc<dyn Provider>>,
}

impl Renewable {
    pub fn new(
        environment: Arc<Environment>,
        settings: ProviderSettings,
    ) -> Result<Self, ConnectError> {
        let current = Mutex::new(connect(&environment, &settings)?);
        Ok(Self {
            environment,
            settings,
            current,
        })
    }

    fn current(&self) -> Arc<dyn Provider> {
        let current = self.current.lock();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Provider for Renewable {
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        let current = self.current();
        Box::pin(async move { current.stream(request).await })
    }

    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        let current = self.current();
        Box::pin(async move { current.whole(request).await })
    }

    fn count_tokens(&self, body: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        let current = self.current();
        Box::pin(async move { current.count_tokens(body).await })
    }

    fn capabilities(&self) -> Capabilities {
        self.current().capabilities()
    }

    fn key_source(&self) -> &'static str {
        self.current().key_source()
    }

    fn renew(&self) -> Result<(), ConnectError> {
        let renewed = connect(&self.environment, &self.settings)?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_keys_are_taken_and_bad_ones_are_not() {
        let environment = Arc::new(Environment::default());
        let provider = Renewable::new(Arc::clone(&environment), ProviderSettings::default());
        let provider = provider.unwrap();
        assert_eq!(provider.key_source(), "none");

        environment.extend([("ANTHROPIC_API_KEY".into(), "sk-ant-new".into())]);
        provider.renew().unwrap();
        assert_eq!(provider.key_source(), "ANTHROPIC_API_KEY");

        environment.extend([("ANTHROPIC_CUSTOM_HEADERS".into(), "no colon".into())]);
        assert!(provider.renew().is_err());
        assert_eq!(provider.key_source(), "ANTHROPIC_API_KEY");
    }
}
