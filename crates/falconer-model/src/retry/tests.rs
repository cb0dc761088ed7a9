//! Which failure is tried again, and when.

use proptest::prelude::*;

use super::*;

fn failure(kind: FailureKind) -> ApiFailure {
    ApiFailure::new(kind, "x")
}

/// The delays before each retry, in milliseconds, until it gives up.
fn delays(policy: &RetryPolicy, failure: &ApiFailure, random: f64) -> Vec<u128> {
    let mut attempt = Attempt::first();
    let mut delays = Vec::new();
    loop {
        attempt = attempt.failed(failure);
        match policy.decide(failure, attempt, random) {
            RetryDecision::Retry { delay } => delays.push(delay.as_millis()),
            RetryDecision::GiveUp => return delays,
        }
    }
}

#[test]
fn waits_double_up_to_the_cap_ten_times() {
    let policy = RetryPolicy::default();
    let expected = [
        500, 1000, 2000, 4000, 8000, 16000, 32000, 32000, 32000, 32000,
    ];
    assert_eq!(
        delays(&policy, &failure(FailureKind::Server), 0.0),
        expected
    );
    let jittered = delays(&policy, &failure(FailureKind::Server), 1.0);
    assert_eq!(jittered[..3], [625, 1250, 2500]);
}

#[test]
fn each_kind_is_retried_or_not() {
    use FailureKind::*;
    let table = [
        (Authentication, None, 0),
        (Authentication, Some(true), 0),
        (Billing, None, 0),
        (ModelNotFound, None, 0),
        (PromptTooLong, None, 0),
        (InvalidRequest, None, 0),
        (InvalidRequest, Some(true), 10),
        (RateLimited, None, 10),
        (RateLimited, Some(false), 0),
        (Overloaded, None, 10),
        (Server, None, 10),
        (Server, Some(false), 0),
        (Connection, None, 10),
        (Malformed, None, 10),
        (Timeout, None, 1),
    ];
    for (kind, should_retry, retries) in table {
        let failure = ApiFailure {
            should_retry,
            ..failure(kind)
        };
        let seen = delays(&RetryPolicy::default(), &failure, 0.0).len();
        assert_eq!(seen, retries, "{kind:?} {should_retry:?}");
    }
}

#[test]
fn retry_after_is_a_lower_bound_and_absurd_ones_are_not_waited_for() {
    let asking = |seconds| ApiFailure {
        retry_after: Some(Duration::from_secs(seconds)),
        ..failure(FailureKind::RateLimited)
    };
    assert_eq!(
        delays(&RetryPolicy::default(), &asking(0), 0.0)[..2],
        [500, 1000]
    );
    assert_eq!(
        delays(&RetryPolicy::default(), &asking(1), 0.0)[..3],
        [1000, 1000, 2000]
    );
    assert_eq!(
        delays(&RetryPolicy::default(), &asking(60), 0.0)[..2],
        [60_000, 60_000]
    );
    assert!(delays(&RetryPolicy::default(), &asking(3601), 0.0).is_empty());
}

#[test]
fn the_environment_says_how_often() {
    for (value, retries) in [("0", 0), ("3", 3), ("many", 10), ("", 10)] {
        let variables = [("CLAUDE_CODE_MAX_RETRIES".into(), value.into())];
        let policy = RetryPolicy::from_environment(&Environment::new(variables));
        let seen = delays(&policy, &failure(FailureKind::Overloaded), 0.0).len();
        assert_eq!(seen, retries, "{value:?}");
    }
}

#[test]
fn random_is_in_range() {
    assert!((0..100).all(|_| (0.0..=1.0).contains(&jitter())));
}

proptest! {
    #[test]
    fn no_wait_is_unbounded(max in 0_u32..100, random in any::<f64>(), after in 0_u64..10_000) {
        let policy = RetryPolicy { max_retries: max, ..RetryPolicy::default() };
        let failure = ApiFailure {
            retry_after: Some(Duration::from_secs(after)),
            ..failure(FailureKind::Server)
        };
        let delays = delays(&policy, &failure, random);
        prop_assert!(delays.len() <= max as usize);
        prop_assert!(delays.iter().all(|delay| *delay <= 3_600_000));
    }
}
