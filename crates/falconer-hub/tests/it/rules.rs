//! "Always": rules that answer, are counted, and can be taken away.

use falconer_hub::{Error, NewRule, Question, RuleReach, Verdict};
use falconer_store::{
    Decided, NewRule as NewRecord, RequestState, RuleEffect, RuleQuery, RuleScope, SessionState,
};
use serde_json::json;

use crate::place::{Place, open_request, send, state, until};

fn always(text: &str) -> Verdict {
    Verdict::AllowAlways {
        rule: NewRule {
            text: text.to_owned(),
            and: Vec::new(),
            scope: RuleReach::Project,
        },
    }
}

#[tokio::test]
async fn an_always_answers_the_next_time_is_counted_survives_and_can_be_revoked() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let answer = hub.answer(
        &request.id,
        &request.digest,
        always("Bash(truncate -s 1:*)"),
        "anna",
    );
    let answer = answer.await.unwrap();
    assert!(matches!(answer, Decided::Won(_)), "{answer:?}");
    state(&hub, &session, SessionState::Ready).await;
    std::fs::remove_file(place.work().join("one.txt")).unwrap();
    hub.shut_down().await;
    drop(hub);

    let hub = place.hub().await;
    let other = place.session(&hub).await;
    send(&hub, &other, "write one").await;
    state(&hub, &other, SessionState::Ready).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("\0"));
    let rules = hub.store().rules(RuleQuery::All).await.unwrap();
    assert_eq!((rules.len(), rules[0].used), (1, 1));
    assert_eq!(
        (&*rules[0].text, &*rules[0].created_by),
        ("Bash(truncate -s 1:*)", "anna")
    );

    hub.store().remove_rule(&rules[0].id).await.unwrap();
    send(&hub, &other, "write one").await;
    open_request(&hub, &other).await;
}

#[tokio::test]
async fn a_rule_that_would_not_allow_what_was_asked_does_not_answer() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    for text in ["Bash(git:*)", "Bash(truncate -s 2:*)", "Bash(("] {
        let refused = hub
            .answer(&request.id, &request.digest, always(text), "anna")
            .await;
        assert!(
            matches!(refused, Err(Error::BadRule(_))),
            "{text}: {refused:?}"
        );
    }
    let request = hub.store().request(&request.id).await.unwrap();
    assert_eq!(request.state, RequestState::Pending);
    assert!(hub.store().rules(RuleQuery::All).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_denial_beats_an_allowance_and_a_rule_of_another_place_says_nothing() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let add = |text: &str, effect, scope| {
        let new = NewRecord::new(text, effect, scope, "anna");
        let hub = hub.clone();
        async move { hub.add_rule(new).await.unwrap() }
    };
    let elsewhere = RuleScope::Project {
        path: "/elsewhere".to_owned(),
    };
    add("Bash(truncate -s 2:*)", RuleEffect::Allow, elsewhere).await;
    add("Bash(truncate -s 1:*)", RuleEffect::Allow, RuleScope::User).await;
    let denial = add("Bash(truncate -s 1:*)", RuleEffect::Deny, RuleScope::User).await;
    send(&hub, &session, "write one").await;
    state(&hub, &session, SessionState::Ready).await;
    assert_eq!(place.read("one.txt"), None);
    let used = until(&hub, "the denial is counted", || async {
        let rules = hub.store().rules(RuleQuery::All).await.unwrap();
        rules.into_iter().find(|rule| rule.used > 0)
    });
    assert_eq!(used.await.id, denial.id);
    send(&hub, &session, "write two").await;
    open_request(&hub, &session).await;
}

/// Nobody is asked about reading in the project, so that the rule has to be asked before.
#[tokio::test]
async fn a_denial_counts_for_what_the_engine_would_allow_by_itself() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let add = |text: &str, effect| {
        let new = NewRecord::new(text, effect, RuleScope::User, "anna");
        let hub = hub.clone();
        async move { hub.add_rule(new).await.unwrap() }
    };
    // The session runs already when the rule is made.
    send(&hub, &session, "look at the picture").await;
    state(&hub, &session, SessionState::Ready).await;
    let denial = add("Read(dot.png)", RuleEffect::Deny).await;
    send(&hub, &session, "look at the picture").await;
    let used = until(&hub, "the denial is counted", || async {
        let rules = hub.store().rules(RuleQuery::All).await.unwrap();
        rules.into_iter().find(|rule| rule.used > 0)
    });
    assert_eq!(used.await.id, denial.id);
    state(&hub, &session, SessionState::Ready).await;
    hub.store().remove_rule(&denial.id).await.unwrap();
    add("Read(*.png)", RuleEffect::Ask).await;
    send(&hub, &session, "look at the picture").await;
    assert_eq!(
        open_request(&hub, &session).await.tool.as_deref(),
        Some("Read")
    );
}

#[tokio::test]
async fn an_explanation_names_the_rule_and_what_would_have_been_allowed() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    open_request(&hub, &session).await;
    let mut question = Question::new("Bash", json!({"command": "truncate -s 9 x"}));
    question.session = Some(session);
    question.rule = Some("Bash(truncate:*)".to_owned());
    let explained = hub.explain(&question).await.unwrap();
    assert_eq!(
        (explained.effect, &explained.rule),
        (RuleEffect::Ask, &None)
    );
    assert!(!explained.suggestions.is_empty());
    let would = explained.would_have.unwrap();
    assert!(would.allows_this);
    assert_eq!(would.of, 1);
    let scope = RuleScope::User;
    let rule = NewRecord::new("Bash(truncate:*)", RuleEffect::Allow, scope, "anna");
    let rule = hub.add_rule(rule).await.unwrap();
    let explained = hub.explain(&question).await.unwrap();
    assert_eq!(
        (explained.effect, explained.rule),
        (RuleEffect::Allow, Some(rule.id))
    );
    let bad = NewRecord::new("Bash(", RuleEffect::Allow, RuleScope::User, "anna");
    assert!(matches!(hub.add_rule(bad).await, Err(Error::BadRule(_))));
}

#[tokio::test]
async fn no_rule_allows_protected_places_and_paths_start_in_the_project() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    for text in ["Edit(./**)", "Bash(echo *)", "Write"] {
        let rule = NewRecord::new(text, RuleEffect::Allow, RuleScope::User, "anna");
        hub.add_rule(rule).await.unwrap();
    }
    let table = [
        (
            "Write",
            json!({"file_path": "a.txt"}),
            None,
            RuleEffect::Allow,
        ),
        (
            "Write",
            json!({"file_path": ".git/hooks/x"}),
            None,
            RuleEffect::Ask,
        ),
        (
            "Write",
            json!({"file_path": ".claude/settings.json"}),
            None,
            RuleEffect::Ask,
        ),
        (
            "Bash",
            json!({"command": "echo evil > post-merge"}),
            Some(".git/hooks"),
            RuleEffect::Ask,
        ),
        (
            "Bash",
            json!({"command": "echo a > b"}),
            Some("src"),
            RuleEffect::Allow,
        ),
        (
            "Bash",
            json!({"command": "echo a > b"}),
            Some("/elsewhere"),
            RuleEffect::Ask,
        ),
    ];
    for (tool, input, shell, expected) in table {
        let mut question = Question::new(tool, input.clone());
        question.session = Some(session.clone());
        question.cwd = shell.map(|shell| place.work().join(shell));
        let explained = hub.explain(&question).await.unwrap();
        assert_eq!(
            explained.effect, expected,
            "{input} in {shell:?}: {explained:?}"
        );
    }
}

#[tokio::test]
async fn an_edited_command_is_judged_by_the_rules() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let rule = NewRecord::new("Bash(rm:*)", RuleEffect::Deny, RuleScope::User, "anna");
    hub.add_rule(rule).await.unwrap();
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    for command in ["rm victim", "truncate -s 1 .git/config"] {
        let verdict = Verdict::AllowEdited {
            input: json!({ "command": command }),
        };
        let refused = hub
            .answer(&request.id, &request.digest, verdict, "anna")
            .await;
        assert!(
            matches!(refused, Err(Error::WrongAnswer(_))),
            "{command}: {refused:?}"
        );
    }
    let request = hub.store().request(&request.id).await.unwrap();
    assert_eq!(request.state, RequestState::Pending);
}

#[tokio::test]
async fn a_denial_of_an_unknown_tool_is_refused() {
    let place = Place::new();
    let hub = place.hub().await;
    let add = |text: &str, effect| {
        let rule = NewRecord::new(text, effect, RuleScope::User, "anna");
        let hub = hub.clone();
        async move { hub.add_rule(rule).await }
    };
    for text in ["Bahs(rm *)", "bash(rm *)", "Bash(rm *", "Frobnicate"] {
        for effect in [RuleEffect::Deny, RuleEffect::Ask] {
            let refused = add(text, effect).await;
            assert!(matches!(refused, Err(Error::BadRule(_))), "{text}");
        }
    }
    add("Frobnicate", RuleEffect::Allow).await.unwrap();
    add("mcp__github__push", RuleEffect::Deny).await.unwrap();
}

/// The runtime of this test has one worker, which has to stay free.
#[tokio::test]
async fn a_long_command_is_explained_off_the_async_workers() {
    use std::time::{Duration, Instant};

    let place = Place::new();
    let hub = place.hub().await;
    let rule = NewRecord::new("Bash(a:*)", RuleEffect::Allow, RuleScope::User, "anna");
    hub.add_rule(rule).await.unwrap();
    let longest_gap = tokio::spawn(async {
        let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        while longest < Duration::from_secs(60) && !DONE.load(std::sync::atomic::Ordering::SeqCst) {
            ticks.tick().await;
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        longest
    });
    for text in ["a|", "${", "<<A ", "a;"] {
        let command = text.repeat(32 * 1024 / text.len() * 2);
        let question = Question::new("Bash", json!({ "command": command }));
        hub.explain(&question).await.unwrap();
    }
    DONE.store(true, std::sync::atomic::Ordering::SeqCst);
    let longest = longest_gap.await.unwrap();
    assert!(longest < Duration::from_millis(500), "{longest:?}");
}

static DONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
