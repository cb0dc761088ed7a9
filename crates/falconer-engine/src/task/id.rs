//! Names for tasks: a letter for the kind, then enough chance that nobody guesses a file's name.

use std::time::{SystemTime, UNIX_EPOCH};

use falconer_protocol::{RunId, TaskId};

use super::TaskKind;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// A new name: safe as a file name, short enough for a model to copy.
pub(super) fn task_id(kind: TaskKind) -> TaskId {
    let letter = match kind {
        TaskKind::Shell => 'b',
    };
    let mut chance = uuid::Uuid::new_v4().as_u128();
    let mut name = String::from(letter);
    for _ in 0..8 {
        name.push(digit(chance));
        chance /= 36;
    }
    TaskId::new(name)
}

/// Names one run of a task; later runs sort after earlier ones.
pub(super) fn run_id() -> RunId {
    let mut left = unix_millis();
    let mut time = Vec::new();
    while left > 0 {
        time.push(digit(left.into()));
        left /= 36;
    }
    let time: String = time.into_iter().rev().collect();
    let chance = uuid::Uuid::new_v4().as_fields().0;
    RunId::new(format!("{time:0>9}-{chance:08x}"))
}

pub(super) fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

fn digit(number: u128) -> char {
    char::from(DIGITS[(number % 36) as usize])
}
