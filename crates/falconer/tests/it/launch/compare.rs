//! Launches in a form in which spelling does not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use falconer::LaunchPlan;
use serde_json::Value;

use super::dump::Dump;

/// A launch as sets of named values.
pub(super) struct Launch(BTreeMap<String, Value>);

impl Launch {
    pub(super) fn planned(plan: &LaunchPlan) -> Self {
        let text = |text: &std::ffi::OsString| text.to_str().unwrap().to_owned();
        let args: Vec<_> = plan.args.iter().map(text).collect();
        let env = plan
            .env
            .iter()
            .map(|(name, value)| (text(name), text(value)));
        let request = serde_json::to_value(&plan.initialize).unwrap();
        Self::new(&args, env, request)
    }

    pub(super) fn observed(dump: &Dump) -> Self {
        Self::new(
            &dump.args,
            dump.env.clone().into_iter(),
            dump.request.clone(),
        )
    }

    fn new(args: &[String], env: impl Iterator<Item = (String, String)>, request: Value) -> Self {
        let mut places = BTreeMap::new();
        for (flag, value) in flags(args) {
            let values = places
                .entry(format!("args.{flag}"))
                .or_insert_with(|| Value::from(vec![(); 0]));
            values.as_array_mut().unwrap().push(value);
        }
        places.extend(env.map(|(name, value)| (format!("env.{name}"), Value::from(value))));
        let Value::Object(fields) = request else {
            panic!("{request}")
        };
        places.extend(
            fields
                .into_iter()
                .map(|(name, value)| (format!("initialize.{name}"), value)),
        );
        Self(places).with_one_carrier()
    }

    /// Moves what can be carried in two ways to the one we use, so that values are compared.
    ///
    /// The system prompt travels in the request, where length is no concern; Python puts it on
    /// the command line. And Python says `null` where nothing is meant.
    fn with_one_carrier(mut self) -> Self {
        if let Some(Value::Array(prompt)) = self.0.remove("args.--system-prompt") {
            self.0
                .insert("initialize.systemPrompt".to_owned(), Value::Array(prompt));
        }
        if let Some(Value::Array(mut text)) = self.0.remove("args.--append-system-prompt") {
            self.0
                .insert("initialize.appendSystemPrompt".to_owned(), text.remove(0));
        }
        let fields = self
            .0
            .iter_mut()
            .filter(|(place, _)| place.starts_with("initialize."));
        fields.for_each(|(_, value)| remove_nulls(value));
        self.0
            .retain(|place, value| !(place.starts_with("initialize.") && value.is_null()));
        self
    }
}

fn remove_nulls(json: &mut Value) {
    match json {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// A place where two launches differ.
pub(super) struct Difference {
    pub(super) place: String,
    pub(super) ours: Option<Value>,
    pub(super) theirs: Option<Value>,
}

/// Flags with their values, whether given as one argument or two; JSON is parsed.
fn flags(args: &[String]) -> Vec<(String, Value)> {
    let mut flags = Vec::new();
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        let (flag, value) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (
                arg.as_str(),
                args.next_if(|next| !next.starts_with("--")).cloned(),
            ),
        };
        flags.push((flag.to_owned(), value.map_or(Value::Null, parsed)));
    }
    flags
}

fn parsed(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(json @ (Value::Object(_) | Value::Array(_) | Value::Number(_))) => json,
        _ => Value::String(text),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show =
            |value: &Option<Value>| value.as_ref().map_or("nothing".into(), Value::to_string);
        let (ours, theirs) = (show(&self.ours), show(&self.theirs));
        write!(f, "{}: ours {ours}, theirs {theirs}", self.place)
    }
}

/// Where two launches differ, and how.
pub(super) fn differences(ours: &Launch, theirs: &Launch) -> Vec<Difference> {
    let places: BTreeSet<_> = ours.0.keys().chain(theirs.0.keys()).collect();
    let differing = places.into_iter().filter_map(|place| {
        let (ours, theirs) = (ours.0.get(place), theirs.0.get(place));
        (!same(ours, theirs)).then(|| Difference {
            place: place.clone(),
            ours: ours.cloned(),
            theirs: theirs.cloned(),
        })
    });
    differing.collect()
}

/// Equal, where numbers may be spelled differently (`2` and `2.0`).
fn same(ours: Option<&Value>, theirs: Option<&Value>) -> bool {
    match (ours, theirs) {
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(Some(ours), Some(theirs)))
        }
        (Some(Value::Number(ours)), Some(Value::Number(theirs))) => {
            ours.as_f64() == theirs.as_f64()
        }
        _ => ours == theirs,
    }
}
