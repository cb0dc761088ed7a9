//! Pages fetched a short while ago.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a page is good for.
const FRESH: Duration = Duration::from_secs(15 * 60);

/// How many pages, and how many bytes of them, are kept.
const PAGES: usize = 32;
const BYTES: usize = 8 << 20;

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) text: String,
    /// Bytes that came over the network.
    pub(super) bytes: u64,
    pub(super) code: u16,
    pub(super) code_text: String,
    /// Whether more would have come.
    pub(super) is_cut: bool,
}

/// The newest pages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: VecDeque<(String, Instant, Arc<Page>)>,
}

impl Cache {
    pub(super) fn get(&mut self, url: &str, now: Instant) -> Option<Arc<Page>> {
        self.pages
            .retain(|(_, at, _)| now.saturating_duration_since(*at) < FRESH);
        let found = self.pages.iter().find(|(key, ..)| key == url);
        found.map(|(.., page)| Arc::clone(page))
    }

    pub(super) fn put(&mut self, url: String, page: Arc<Page>, now: Instant) {
        self.pages.retain(|(key, ..)| *key != url);
        if page.text.len() > BYTES / 2 {
            return;
        }
        self.pages.push_back((url, now, page));
        while self.pages.len() > PAGES || self.bytes() > BYTES {
            self.pages.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.pages
            .iter()
            .map(|(url, _, page)| url.len() + page.text.len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(size: usize) -> Arc<Page> {
        Arc::new(Page {
            text: "x".repeat(size),
            bytes: 1,
            code: 200,
            code_text: "OK".to_owned(),
            is_cut: false,
        })
    }

    #[test]
    fn pages_grow_stale_after_fifteen_minutes() {
        let (mut cache, start) = (Cache::default(), Instant::now());
        cache.put("a".into(), page(1), start);
        assert!(
            cache
                .get("a", start + FRESH - Duration::from_secs(1))
                .is_some()
        );
        assert!(cache.get("b", start).is_none());
        assert!(cache.get("a", start + FRESH).is_none());
    }

    #[test]
    fn the_cache_stays_small() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        for n in 0..1000 {
            cache.put(n.to_string(), page(300 << 10), now);
        }
        assert!(cache.bytes() <= BYTES && cache.get("999", now).is_some());
        for n in 0..1000 {
            cache.put(n.to_string(), page(1), now);
        }
        assert_eq!(cache.pages.len(), PAGES);
        cache.put("huge".into(), page(BYTES), now);
        assert!(cache.get("huge", now).is_none());
    }
}
