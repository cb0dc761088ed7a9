//! Prompts that come while a turn runs.

use falconer_testkit::scenario::{Scenario, hold, text, tool_use};
use serde_json::{Value, json};

use super::Case;

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn a_prompt_while_the_model_speaks_gets_its_own_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(text("two"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .until_all("command_lifecycle", 3)
    .release("later")
    .until_all("result", 2)
    .eof()
    .same();
}

#[test]
fn a_prompt_while_a_tool_runs_joins_the_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("both"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say_as(FIRST, "first")
    .until_file("started")
    .say_as(SECOND, "second")
    .until_all("command_lifecycle", 3)
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_same_prompt_twice_is_one() {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .hello(json!({}))
        .say_as(FIRST, "first")
        .until("result")
        .say_as(FIRST, "first")
        .say_as(SECOND, "second")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_is_only_kept() {
    Case::bidi(|_| Scenario::new().turn(text("one")))
        .hello(json!({}))
        .send(&json!({"type": "user", "message": {"role": "user", "content": "note"}, "shouldQuery": false, "uuid": FIRST}))
        .until("result")
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_ends_the_turn() {
    Case::bidi(|_| Scenario::new().turn(text("one").hold("never")).turn(text("two")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say_as(FIRST, "first")
        .until_all("stream_event", 3)
        .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
        .until_all("result", 2)
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_ends_a_turn_without_words() {
    Case::bidi(|_| Scenario::new().turn(hold("never").text("one")).turn(text("two")))
        .hello(json!({}))
        .say_as(FIRST, "first")
        .requests(1)
        .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
        .until_all("result", 2)
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_waits_for_a_tool() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("two"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say_as(FIRST, "first")
    .until_file("started")
    .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
    .until_all("command_lifecycle", 3)
    .touch("go")
    .until_all("result", 2)
    .eof()
    .same();
}

#[test]
fn prompts_that_wait_together_share_a_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(text("two and three"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .say_as("33333333-3333-4333-8333-333333333333", "third")
    .until_all("command_lifecycle", 4)
    .release("later")
    .until_all("result", 2)
    .eof()
    .same();
}

/// A prompt that the model takes its time for; the others wait meanwhile.
fn while_the_first_is_answered(wait: impl FnOnce(Case) -> Case, waiting: usize) -> Case {
    let case = Case::bidi(|_| {
        let answers = ["two", "three", "four"].map(text);
        let first = Scenario::new().turn(hold("later").text("one"));
        answers.into_iter().fold(first, Scenario::turn)
    })
    .hello(json!({}))
    .say_by_person(FIRST, "first")
    .requests(1);
    // The first is queued and started, each of the others is queued.
    let lines = waiting + 2;
    let case = wait(case).until_all("command_lifecycle", lines);
    case.release("later").until("result")
}

fn named(number: usize) -> String {
    format!("2222222{number}-2222-4222-8222-222222222222")
}

#[test]
fn prompts_of_people_are_counted() {
    let wait = |case: Case| {
        let case = case.say_by_person(&named(0), "second");
        case.say_by_person(&named(1), "third")
    };
    while_the_first_is_answered(wait, 2)
        .until("result")
        .eof()
        .same();
}

#[test]
fn prompts_of_nobody_are_not_counted() {
    let wait = |case: Case| {
        let case = case.say_as(&named(0), "second");
        case.say_as(&named(1), "third")
    };
    while_the_first_is_answered(wait, 2)
        .until("result")
        .eof()
        .same();
}

/// They do not share a turn, and each result says whose it is.
#[test]
fn people_and_others_get_turns_of_their_own() {
    let wait = |case: Case| {
        case.say_by_person(&named(0), "second")
            .say_as(&named(1), "third")
            .say_by_person(&named(2), "fourth")
    };
    while_the_first_is_answered(wait, 3)
        .until_all("result", 3)
        .eof()
        .same();
}

#[test]
fn only_people_are_believed() {
    let origins: [Value; 5] = [
        json!({"kind": "task-notification"}),
        json!({"kind": "peer", "from": "other", "fromMode": "bypass"}),
        json!({"kind": "channel", "server": "chat"}),
        json!({"kind": "coordinator"}),
        json!({"kind": "unheard of"}),
    ];
    let count = origins.len();
    let wait = move |case: Case| {
        let origins = origins.iter().enumerate();
        origins.fold(case, |case, (number, origin)| {
            case.say_from(origin, &named(number), "more")
        })
    };
    while_the_first_is_answered(wait, count)
        .until("result")
        .eof()
        .same();
}

#[test]
fn commands_of_people_count_and_notes_do_not() {
    let wait = |case: Case| {
        let human = json!({"kind": "human"});
        let note = json!({"type": "user", "message": {"role": "user", "content": "note"},
            "shouldQuery": false, "uuid": named(1), "origin": human});
        case.say_by_person(&named(0), "/model opus")
            .send(&note)
            .say_by_person(&named(2), "last")
    };
    while_the_first_is_answered(wait, 3)
        .until_all("result", 3)
        .eof()
        .same();
}

#[test]
fn prompts_of_people_are_taken_back_with_the_others() {
    let wait = |case: Case| {
        case.say_by_person(&named(0), "second")
            .say_as(&named(1), "third")
            .control_without_waiting(
                "stop",
                json!({"subtype": "interrupt", "cancel_queued": true}),
            )
    };
    while_the_first_is_answered(wait, 2).eof().same();
}

#[test]
fn prompts_of_people_join_a_running_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("all"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say_by_person(FIRST, "first")
    .until_file("started")
    .say_as(&named(0), "second")
    .say_by_person(&named(1), "third")
    .until_all("command_lifecycle", 4)
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_replayed_prompt_says_whose_it_is() {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .args(["--replay-user-messages"])
        .hello(json!({}))
        .say_by_person(FIRST, "first")
        .until("result")
        .say_as(SECOND, "second")
        .until("result")
        .eof()
        .same();
}
