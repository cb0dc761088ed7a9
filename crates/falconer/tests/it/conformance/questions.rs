//! Questions to the user, and plans.

use falconer::{
    Answers, Decision, Options, PermissionMode, PlanDecision, PlanRequest, QuestionRequest,
};
use falconer_testkit::scenario::{MessageReply, Scenario, text, tool_use};
use serde_json::json;
use tempfile::TempDir;

use super::seen::{Asked, Seen};
use super::{Stage, next_result};

/// The model asks for a colour, for toppings and for a name.
fn three_questions() -> MessageReply {
    let option = |label: &str| json!({ "label": label, "description": format!("it is {label}") });
    let question = |text: &str, options: [&str; 2], several: bool| {
        json!({
            "question": text, "header": "Choose", "multiSelect": several,
            "options": options.map(option),
        })
    };
    let questions = json!({ "questions": [
        question("Which colour?", ["Red", "Blue"], false),
        question("Which toppings?", ["Olives", "Onions"], true),
        question("Which name?", ["Ann", "Bob"], false),
    ] });
    tool_use("AskUserQuestion", questions)
}

fn asking() -> Stage {
    Stage::new(Scenario::new().turn(three_questions()).turn(text("thanks")))
}

#[tokio::test]
async fn answers_reach_the_model_one_label_several_labels_or_free_text() {
    let stage = asking();
    let seen = Seen::default();
    let notes = seen.clone();
    let options = stage
        .options()
        .on_question(move |request: QuestionRequest| {
            for question in &request.questions {
                let labels: Vec<_> = question.options.iter().map(|o| o.label.clone()).collect();
                notes.add((question.question.clone(), labels, question.multi_select));
            }
            let answers = Answers::new()
                .answer("Which colour?", "Blue")
                .answer("Which toppings?", "Olives")
                .answer("Which toppings?", "Onions")
                .answer("Which name?", "call it Zoë");
            std::future::ready(answers)
        });
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "thanks");
    let seen = seen.all();
    assert_eq!(seen.len(), 3);
    assert_eq!(
        seen[0],
        (
            "Which colour?".into(),
            vec!["Red".into(), "Blue".into()],
            false
        )
    );
    assert!(seen[1].2, "several toppings may be chosen");
    let result = stage.result_in(2);
    assert!(!result.is_error, "{result:?}");
    for (question, answer) in [
        ("Which colour?", "Blue"),
        ("Which toppings?", "Olives, Onions"),
        ("Which name?", "call it Zoë"),
    ] {
        assert!(
            result
                .text
                .contains(&format!("\"{question}\"=\"{answer}\"")),
            "{}",
            result.text
        );
    }
}

#[tokio::test]
async fn a_declined_question_tells_the_model_why() {
    let stage = asking();
    let options = stage
        .options()
        .on_question(async |_: QuestionRequest| Answers::decline("decide for yourself"));
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "thanks");
    let result = stage.result_in(2);
    assert_eq!(
        (result.text.as_str(), result.is_error),
        ("decide for yourself", true)
    );
}

#[tokio::test]
async fn a_question_without_a_question_handler_goes_to_the_permission_handler() {
    let stage = asking();
    let asked = Asked::default();
    let options = stage
        .options()
        .on_permission(asked.answering(Decision::deny("nobody is here")));
    stage.run("go", options).await;
    assert_eq!(asked.tools(), ["AskUserQuestion"]);
    assert_eq!(asked.all()[0].requires_user_interaction, Some(true));
    assert_eq!(stage.result_in(2).text, "nobody is here");
}

#[tokio::test]
async fn without_any_handler_the_model_is_not_offered_questions() {
    let stage = asking();
    stage.run("go", stage.options()).await;
    let first = stage.server.messages()[0].model_request();
    assert!(!first.tool_names().contains(&"AskUserQuestion"));
    assert!(stage.result_in(2).is_error);
}

/// The model shows its plan, writes a file and says a last word.
struct Planning {
    stage: Stage,
    place: TempDir,
}

impl Planning {
    fn new() -> Self {
        let place = TempDir::new().unwrap();
        let file = place.path().canonicalize().unwrap().join("made.txt");
        let scenario = Scenario::new()
            .turn(tool_use(
                "ExitPlanMode",
                json!({ "plan": "1. write\n2. rest" }),
            ))
            .turn(tool_use(
                "Write",
                json!({ "file_path": file, "content": "text" }),
            ))
            .turn(text("done"));
        Self {
            stage: Stage::new(scenario),
            place,
        }
    }

    /// Plan mode; writes that are asked about are denied.
    fn options(&self, asked: &Asked) -> Options {
        self.stage
            .options()
            .cwd(self.place.path())
            .permission_mode(PermissionMode::Plan)
            .on_permission(asked.answering(Decision::deny("no writing")))
    }

    fn wrote(&self) -> bool {
        self.place.path().join("made.txt").exists()
    }
}

#[tokio::test]
async fn an_approved_plan_goes_ahead_asking_as_before() {
    let planning = Planning::new();
    let (asked, plans) = (Asked::default(), Seen::default());
    let notes = plans.clone();
    let options = planning
        .options(&asked)
        .on_plan(move |request: PlanRequest| {
            notes.add(request.plan);
            std::future::ready(PlanDecision::Approve)
        });
    planning.stage.run("go", options).await;
    assert_eq!(plans.all(), [Some("1. write\n2. rest".to_owned())]);
    assert!(!planning.stage.result_in(2).is_error);
    assert_eq!(asked.tools(), ["Write"]);
    assert!(!planning.wrote());
}

#[tokio::test]
async fn a_plan_approved_in_accept_edits_switches_the_mode() {
    let planning = Planning::new();
    let asked = Asked::default();
    let options = planning
        .options(&asked)
        .on_plan(async |_: PlanRequest| PlanDecision::ApproveIn(PermissionMode::AcceptEdits));
    planning.stage.run("go", options).await;
    assert_eq!(asked.all(), []);
    assert!(planning.wrote());
}

#[tokio::test]
async fn keep_planning_gives_the_model_the_comment_and_plan_mode_stays() {
    let planning = Planning::new();
    let asked = Asked::default();
    let options = planning
        .options(&asked)
        .on_plan(async |_: PlanRequest| PlanDecision::KeepPlanning("test first".to_owned()));
    let (client, mut messages) = planning.stage.connect(options).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let result = planning.stage.result_in(2);
    assert!(
        result.is_error && result.text.contains("test first"),
        "{result:?}"
    );
    assert_eq!(asked.tools(), ["Write"]);
    assert!(!planning.wrote());
    client.close().await.unwrap();
}
