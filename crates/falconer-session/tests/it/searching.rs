//! Searches that come across what a policy denies, on both engines.

use std::sync::Arc;

use falconer_event::{Body, Outcome};
use falconer_session::{Answer, Policy, Session};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use crate::engines::{REAL, Site};

const SECRET: &str = "the-needle-of-the-vault";

#[tokio::test]
async fn a_search_over_a_denied_file_is_asked_about_and_shows_nothing_unless_allowed() {
    for kind in REAL {
        let grep = |glob: &str| {
            let input = json!({"pattern": "needle", "output_mode": "content", "glob": glob});
            tool_use("Grep", input)
        };
        let scenario = Scenario::new()
            .turn(grep("*"))
            .turn(grep("*.md"))
            .turn(text("done"));
        let site = Site::real(kind, scenario);
        let file = |name: &str| site.project.path().join(name);
        std::fs::create_dir(file("vault")).unwrap();
        std::fs::write(file("vault/plan.txt"), SECRET).unwrap();
        std::fs::write(file("notes.md"), "a needle in the notes").unwrap();
        let policy: Policy = "[deny]\npaths = [\"vault/**\"]".parse().unwrap();
        let options = site.options().only_tools(["Grep"]).allow_tools(["Grep"]);
        let spec = site.spec().options(options).policy(Arc::new(policy));
        let (session, mut events) = Session::start(spec).await.unwrap();
        session.send("look").await.unwrap();
        let mut asked = Vec::new();
        let mut outcome = None;
        while let Some(event) = events.next().await {
            match event.body {
                Body::PermissionRequested(request) => {
                    let no = Answer::deny(&request.id, &request.digest, "anna", "not there");
                    session.answer(no).await.unwrap();
                    asked.push(format!("{request:?}"));
                }
                Body::RunCompleted(end) => outcome = Some(end.outcome),
                _ => {}
            }
        }
        assert_eq!(outcome, Some(Outcome::Ok), "{kind:?}");
        assert_eq!(
            asked.len(),
            1,
            "{kind:?}: a narrower search needs no question"
        );
        let why = &asked[0];
        assert!(
            why.contains("vault/plan.txt") && why.contains("vault/**"),
            "{kind:?}: {why}"
        );
        let heard = site
            .server
            .as_ref()
            .unwrap()
            .messages()
            .last()
            .unwrap()
            .conversation();
        assert!(!heard.contains(SECRET), "{kind:?}: {heard}");
        assert!(heard.contains("a needle in the notes"), "{kind:?}: {heard}");
    }
}
