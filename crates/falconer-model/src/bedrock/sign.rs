//! How requests to Amazon prove who sends them.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use falconer_secret::Environment;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use secrecy::{ExposeSecret, SecretString};

use super::super::credential::sensitive;
use super::super::{ApiFailure, ConnectError, FailureKind};

const SERVICE: &str = "bedrock";

/// How requests are signed.
#[derive(Debug)]
pub(super) enum Signer {
    /// `AWS_BEARER_TOKEN_BEDROCK`.
    Bearer(SecretString),
    /// SigV4 with the keys of the environment.
    Keys {
        credentials: Box<Credentials>,
        region: String,
    },
    /// `CLAUDE_CODE_SKIP_BEDROCK_AUTH`: a gateway does it.
    Nobody,
}

impl Signer {
    pub(super) fn from_environment(
        environment: &Environment,
        region: String,
    ) -> Result<Self, ConnectError> {
        if environment.is_on("CLAUDE_CODE_SKIP_BEDROCK_AUTH") {
            return Ok(Self::Nobody);
        }
        if let Some(token) = environment.text("AWS_BEARER_TOKEN_BEDROCK") {
            return Ok(Self::Bearer(token.into()));
        }
        let need = |name| {
            environment
                .text(name)
                .ok_or(ConnectError::BedrockNeeds(name))
        };
        let credentials = Credentials::new(
            need("AWS_ACCESS_KEY_ID")?,
            need("AWS_SECRET_ACCESS_KEY")?,
            environment.text("AWS_SESSION_TOKEN"),
            None,
            "environment",
        );
        Ok(Self::Keys {
            credentials: Box::new(credentials),
            region,
        })
    }

    /// The headers that go with a POST of `body` to `url`, now.
    pub(super) fn headers(&self, url: &Url, body: &[u8]) -> Result<HeaderMap, ApiFailure> {
        match self {
            Self::Nobody => Ok(HeaderMap::new()),
            Self::Bearer(token) => {
                let bearer = sensitive(&format!("Bearer {}", token.expose_secret()))?;
                Ok(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            }
            Self::Keys {
                credentials,
                region,
            } => signed(credentials, region, SystemTime::now(), url, body),
        }
    }
}

/// The headers of a signature; pure.
pub(super) fn signed(
    credentials: &Credentials,
    region: &str,
    time: SystemTime,
    url: &Url,
    body: &[u8],
) -> Result<HeaderMap, ApiFailure> {
    let failed = |error: &dyn std::fmt::Display| {
        let text = format!("the request to Amazon Bedrock cannot be signed: {error}");
        ApiFailure::new(FailureKind::Authentication, text)
    };
    let identity = credentials.clone().into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(SERVICE)
        .time(time)
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    // What a proxy may change is not signed.
    let headers = [("content-type", "application/json")].into_iter();
    let request = SignableRequest::new("POST", url.as_str(), headers, SignableBody::Bytes(body))
        .map_err(|error| failed(&error))?;
    let output = sign(request, &parameters).map_err(|error| failed(&error))?;
    let (instructions, _) = output.into_parts();
    let mut headers = HeaderMap::new();
    for (name, value) in instructions.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| failed(&error))?;
        headers.insert(name, sensitive(value)?);
    }
    Ok(headers)
}
