//! Certificate and key from their files.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::TlsFiles;
use crate::error::Error;

/// Reads the files.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, Error> {
    let bad = |path: &std::path::Path, reason: String| Error::Tls {
        path: path.to_owned(),
        reason,
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| bad(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(bad(&files.certificate, "no certificate found".into()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| bad(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_no_client_auth())
        .and_then(|builder| builder.with_single_cert(chain, key))
        .map_err(|error| bad(&files.certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
