//! The host of a web address, read the way it will be fetched.

use url::Url;

/// The host of an `http` or `https` address, in small letters.
///
/// Addresses that programs read differently have none: without `//`, with a backslash, or with
/// spaces and control characters. Rules that allow do not match such an address, rules that deny
/// match it.
pub fn web_host(address: &str) -> Option<String> {
    let is_odd = |letter: char| letter == '\\' || letter.is_whitespace() || letter.is_control();
    if address.contains(is_odd) {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    let is_web = ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_web || rest.starts_with('/') {
        return None;
    }
    let url = Url::parse(address).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::web_host;

    #[test]
    fn an_address_has_the_host_that_is_fetched() {
        let table = [
            ("https://docs.rs/serde", Some("docs.rs")),
            ("HTTPS://DOCS.RS:443/", Some("docs.rs")),
            ("https://docs.rs@evil.invalid/", Some("evil.invalid")),
            ("https://user:pass@docs.rs/", Some("docs.rs")),
            ("https://evil.invalid/docs.rs", Some("evil.invalid")),
            ("https://evil.invalid?://docs.rs/", Some("evil.invalid")),
            ("https://evil.invalid#://docs.rs/", Some("evil.invalid")),
            (
                "https://b\u{fc}cher.example/",
                Some("xn--bcher-kva.example"),
            ),
            ("https://d%6fcs.rs/", Some("docs.rs")),
            ("https:evil.invalid/://docs.rs/?q=SECRET", None),
            ("https:/evil.invalid/://docs.rs/", None),
            ("https:///evil.invalid/", None),
            ("https:\\\\evil.invalid/://docs.rs/", None),
            ("https://evil.invalid\\@docs.rs", None),
            ("https://docs.rs\t.evil.invalid/", None),
            (" https://docs.rs/", None),
            ("ftp://docs.rs/", None),
            ("file:///etc/passwd", None),
            ("docs.rs", None),
            ("", None),
            ("https://", None),
        ];
        for (address, host) in table {
            assert_eq!(web_host(address).as_deref(), host, "{address:?}");
        }
    }
}
