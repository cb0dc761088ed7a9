//! 91 MB for a consumer that sleeps, with permission requests among the first
//! megabytes: are they answered while nobody reads the messages?

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::input::text_after;
use crate::payload::{MIXED, message};
use crate::report;

/// Before which messages a request is put: after 22 KB up to 3.6 MB.
const REQUESTS_BEFORE: [usize; 7] = [50, 100, 500, 1_000, 2_000, 4_000, 8_000];

/// When answers arrived, in milliseconds since the first message.
type Answers = Arc<Mutex<HashMap<usize, u128>>>;

pub(crate) fn run(output: &mut impl Write) -> io::Result<()> {
    let started = Instant::now();
    let answers = Answers::default();
    listen(Arc::clone(&answers), started);
    let mut asked = Vec::new();
    let mut buffer = String::new();
    for index in 0..MIXED {
        if let Some(number) = REQUESTS_BEFORE.iter().position(|&before| before == index) {
            buffer.push_str(&request(number));
            output.write_all(buffer.as_bytes())?;
            output.flush()?;
            buffer.clear();
            asked.push(started.elapsed().as_millis());
        }
        buffer.push_str(&message(index));
        if buffer.len() > 60_000 {
            output.write_all(buffer.as_bytes())?;
            buffer.clear();
        }
    }
    output.write_all(buffer.as_bytes())?;
    output.flush()?;
    wait_for(&answers, asked.len());
    write_report(&asked, &answers)
}

fn request(number: usize) -> String {
    format!(
        "{{\"type\":\"control_request\",\"request_id\":\"slow-{number}\",\"request\":{{\"subtype\":\"can_use_tool\",\
         \"tool_name\":\"Write\",\"input\":{{\"file_path\":\"/home/user/w.txt\",\"content\":\"x\"}},\
         \"tool_use_id\":\"toolu_{number}\"}}}}\n"
    )
}

fn listen(answers: Answers, started: Instant) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let id = text_after(&line, "request_id")
                .and_then(|id| id.strip_prefix("slow-")?.parse().ok());
            if let (Some(number), Ok(mut answers)) = (id, answers.lock()) {
                answers.insert(number, started.elapsed().as_millis());
            }
        }
    });
}

/// Gives answers that are under way half a second.
fn wait_for(answers: &Answers, count: usize) {
    let deadline = Instant::now() + std::time::Duration::from_millis(500);
    while Instant::now() < deadline && answers.lock().is_ok_and(|answers| answers.len() < count) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn write_report(asked: &[u128], answers: &Answers) -> io::Result<()> {
    let Ok(answers) = answers.lock() else {
        return Ok(());
    };
    let rows: Vec<String> = asked
        .iter()
        .enumerate()
        .map(|(number, asked)| {
            let answered = answers
                .get(&number)
                .map_or("null".to_owned(), u128::to_string);
            format!(r#"{{"asked_ms":{asked},"answered_ms":{answered}}}"#)
        })
        .collect();
    report(&format!(r#"{{"requests":[{}]}}"#, rows.join(",")))
}
