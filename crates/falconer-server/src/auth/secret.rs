//! Tokens and codes: random, shown once, kept as a hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::error::Error;

/// What every token begins with, so that a leaked one is recognised.
pub(crate) const TOKEN_PREFIX: &str = "flc_";
/// What every login code begins with.
const CODE_PREFIX: &str = "flx_";
/// Longer ones are not ours and not worth hashing.
const LONGEST: usize = 200;

/// A secret in clear. Shown once; `Debug` does not tell it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new token: 256 random bits.
    ///
    /// # Errors
    /// [`Error::Random`] if the system gave none.
    pub(crate) fn token() -> Result<Self, Error> {
        Self::random(TOKEN_PREFIX)
    }

    /// A new login code: 256 random bits.
    ///
    /// # Errors
    /// [`Error::Random`] if the system gave none.
    pub(crate) fn code() -> Result<Self, Error> {
        Self::random(CODE_PREFIX)
    }

    /// A token somebody sent, if it looks like one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_known = text.starts_with(TOKEN_PREFIX) || text.starts_with(CODE_PREFIX);
        (is_known && text.len() <= LONGEST).then(|| Self(text.to_owned()))
    }

    fn random(prefix: &str) -> Result<Self, Error> {
        let mut bytes = [0; 32];
        let provider = rustls::crypto::ring::default_provider();
        let filled = provider.secure_random.fill(&mut bytes);
        filled.map_err(|_| Error::Random)?;
        Ok(Self(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The text to show or send. Do not log it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored instead of it.
    pub(crate) fn hash(&self) -> Hash {
        Hash(blake3::hash(self.0.as_bytes()).to_hex().to_string())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The hash of a secret.
#[derive(Debug, Clone)]
pub(crate) struct Hash(String);

impl Hash {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not tell where they differ.
    pub(crate) fn is(&self, stored: &str) -> bool {
        self.0.as_bytes().ct_eq(stored.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_different_and_not_shown() {
        let (one, two) = (Secret::token().unwrap(), Secret::token().unwrap());
        assert_eq!(one.reveal().len(), "flc_".len() + 43);
        assert_ne!(one.reveal(), two.reveal());
        assert!(!format!("{one:?}").contains(&one.reveal()[4..]));
        assert!(one.hash().is(one.hash().as_str()));
        assert!(!one.hash().is(two.hash().as_str()));
        assert!(!one.hash().is(""));
    }

    #[test]
    fn what_is_not_ours_is_not_looked_up() {
        assert!(Secret::parse(Secret::token().unwrap().reveal()).is_some());
        for text in ["", "flc", "sk-ant-123", &format!("flc_{}", "x".repeat(300))] {
            assert!(Secret::parse(text).is_none(), "{text}");
        }
    }
}
