//! What a project brings along: its settings files and its servers, read once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::class::{Class, Keys};
use super::item::{Item, ItemKind, Step, digest_of};
use super::seal::Seal;
use super::{definition, script, variable};

/// A file of a project that can hold something that needs trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ProjectFile {
    Settings,
    Local,
    Servers,
    /// Everything below `.claude` that defines agents, skills, commands and the like.
    Definitions,
}

impl ProjectFile {
    /// Those that hold JSON.
    pub(crate) const ALL: [Self; 3] = [Self::Settings, Self::Local, Self::Servers];

    /// Its path in the project.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Settings => ".claude/settings.json",
            Self::Local => ".claude/settings.local.json",
            Self::Servers => ".mcp.json",
            Self::Definitions => ".claude",
        }
    }
}

/// The values of a project's files, and the items in them that need trust.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    settings: Option<Value>,
    local: Option<Value>,
    servers: Option<Value>,
    /// Always none: they are read by the official CLI.
    definitions: Option<Value>,
    items: Vec<Item>,
    /// Keys that no project sets, by file.
    never: Vec<(ProjectFile, String)>,
    /// Why there may be more than the items.
    problem: Option<String>,
}

impl ProjectFile {
    /// Whether a file is the user's own: the project's `.claude` is the user's, as in the home
    /// directory.
    pub(crate) fn is_users(self, project: &Path, config_dir: Option<&Path>) -> bool {
        let is_below = match self {
            Self::Settings | Self::Definitions => true,
            Self::Local | Self::Servers => false,
        };
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let own = config_dir.and_then(real);
        is_below && own.is_some() && own == real(&project.join(".claude"))
    }
}

impl Content {
    /// Sorts the values of the files. What no project may set is taken out here.
    pub(crate) fn new(
        project: &Path,
        settings: Option<Value>,
        local: Option<Value>,
        servers: Option<Value>,
        config_dir: Option<&Path>,
    ) -> Self {
        let mut content = Self {
            settings,
            local,
            servers,
            ..Self::default()
        };
        for file in ProjectFile::ALL {
            let Some(Value::Object(object)) = content.value(file).as_ref() else {
                continue;
            };
            let mut walk = Walk {
                project,
                file,
                items: Vec::new(),
                never: Vec::new(),
            };
            match file {
                ProjectFile::Settings | ProjectFile::Local => walk.section(Keys::ALL, object, &[]),
                ProjectFile::Servers => walk.servers(object),
                ProjectFile::Definitions => {}
            }
            let Walk { items, never, .. } = walk;
            content.take_out(file, &never);
            content.items.extend(items);
            let names = never.iter().map(|at| (file, dotted(at)));
            content.never.extend(names);
        }
        if !ProjectFile::Definitions.is_users(project, config_dir) {
            match definition::items(project) {
                Ok(items) => content.items.extend(items),
                Err(problem) => content.problem = Some(problem),
            }
        }
        content
    }

    fn value(&mut self, file: ProjectFile) -> &mut Option<Value> {
        match file {
            ProjectFile::Settings => &mut self.settings,
            ProjectFile::Local => &mut self.local,
            ProjectFile::Servers => &mut self.servers,
            ProjectFile::Definitions => &mut self.definitions,
        }
    }

    fn take_out(&mut self, file: ProjectFile, places: &[Vec<Step>]) {
        let Some(value) = self.value(file) else {
            return;
        };
        // From the back, so that numbers in lists stay right.
        for place in places.iter().rev() {
            remove(value, place);
        }
    }

    /// The value of a file.
    pub(crate) fn take(&mut self, file: ProjectFile) -> Option<Value> {
        self.value(file).take()
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// One for each item: what it runs must stay what was trusted.
    pub(crate) fn seals(&self, project: &Path) -> Vec<Arc<Seal>> {
        let items = self
            .items
            .iter()
            .filter(|item| item.file != ProjectFile::Definitions);
        items
            .map(|item| Arc::new(Seal::new(project, item)))
            .collect()
    }

    /// Keys that no project sets and that were taken out.
    pub(crate) fn never(&self) -> &[(ProjectFile, String)] {
        &self.never
    }

    /// The digest of all items but those the user has made; none if there are none.
    pub(crate) fn digest(&self, own: &HashSet<String>) -> Option<String> {
        let digests = self.items.iter().map(Item::digest);
        let digests: Vec<String> = digests.filter(|digest| !own.contains(digest)).collect();
        (!digests.is_empty()).then(|| digest_of(digests))
    }

    /// Takes out every item that is not kept, and returns where they were.
    pub(crate) fn keep(
        &mut self,
        own: &HashSet<String>,
        is_kept: impl Fn(ItemKind) -> bool,
    ) -> Vec<(ProjectFile, String)> {
        let items = std::mem::take(&mut self.items);
        let (kept, dropped): (Vec<Item>, Vec<Item>) = items
            .into_iter()
            .partition(|item| is_kept(item.kind) || own.contains(&item.digest()));
        self.items = kept;
        for file in ProjectFile::ALL {
            let of_file = dropped.iter().filter(|item| item.file == file);
            let places: Vec<Vec<Step>> = of_file.map(|item| item.at.clone()).collect();
            self.take_out(file, &places);
        }
        let names = dropped.into_iter().map(|item| (item.file, item.key));
        names.collect()
    }

    /// Takes out what would widen what the user has set, and returns where it was.
    pub(crate) fn narrow(&mut self, user: Option<&Value>) -> Vec<(ProjectFile, String)> {
        let mut taken = Vec::new();
        for file in [ProjectFile::Settings, ProjectFile::Local] {
            let kept = self.items.iter().filter(|item| item.file == file);
            let kept: Vec<_> = kept.map(|item| item.at.clone()).collect();
            let Some(Value::Object(object)) = self.value(file).as_ref() else {
                continue;
            };
            let mut places = Vec::new();
            widening(Keys::ALL, object, user, &[], &mut places);
            // What was trusted may widen.
            places.retain(|place| !kept.contains(place));
            taken.extend(places.iter().map(|place| (file, dotted(place))));
            self.take_out(file, &places);
        }
        taken
    }
}

struct Walk<'a> {
    project: &'a Path,
    file: ProjectFile,
    items: Vec<Item>,
    never: Vec<Vec<Step>>,
}

impl Walk<'_> {
    fn section(&mut self, keys: Keys, object: &Map<String, Value>, above: &[Step]) {
        for (key, value) in object {
            let at = below(above, Step::Key(key.clone()));
            match (keys.class(key), value) {
                (Class::Narrowing, _) => {}
                (Class::Never, _) => self.never.push(at),
                (Class::Relative(relative), _) => {
                    if let Some(kind) = relative.needs_trust(value) {
                        self.push(kind, at, value);
                    }
                }
                (Class::Section(listed), Value::Object(inner)) => {
                    self.section(Keys::of_section(listed), inner, &at);
                }
                (Class::Variables, Value::Object(inner)) => self.variables(inner, &at),
                (Class::Hooks, Value::Object(inner)) => self.hooks(inner, &at),
                (Class::EachNeedsTrust(kind), Value::Array(list)) => self.each(kind, list, &at),
                (Class::EntriesNeedTrust(kind), Value::Object(inner)) => {
                    self.entries(kind, inner, &at);
                }
                (Class::NeedsTrust(kind) | Class::EachNeedsTrust(kind), _)
                | (Class::EntriesNeedTrust(kind), _) => self.push(kind, at, value),
                // Of a shape that nobody expects: it must not replace what the user has.
                (Class::Section(_) | Class::Variables | Class::Hooks, _) => self.never.push(at),
            }
        }
    }

    fn variables(&mut self, variables: &Map<String, Value>, above: &[Step]) {
        for (name, value) in variables {
            let at = below(above, Step::Key(name.clone()));
            if variable::is_reserved(name) {
                self.never.push(at);
            } else {
                self.push(ItemKind::Variable, at, value);
            }
        }
    }

    fn hooks(&mut self, events: &Map<String, Value>, above: &[Step]) {
        for (event, matchers) in events {
            let at = below(above, Step::Key(event.clone()));
            match matchers {
                Value::Array(list) => self.each(ItemKind::Hook, list, &at),
                other => self.push(ItemKind::Hook, at, other),
            }
        }
    }

    fn each(&mut self, kind: ItemKind, list: &[Value], above: &[Step]) {
        for (index, value) in list.iter().enumerate() {
            self.push(kind, below(above, Step::Index(index)), value);
        }
    }

    fn entries(&mut self, kind: ItemKind, object: &Map<String, Value>, above: &[Step]) {
        for (key, value) in object {
            self.push(kind, below(above, Step::Key(key.clone())), value);
        }
    }

    /// `.mcp.json` declares servers, and nothing else is read of it.
    fn servers(&mut self, object: &Map<String, Value>) {
        let at = [Step::Key("mcpServers".to_owned())];
        match object.get("mcpServers") {
            Some(Value::Object(servers)) => self.entries(ItemKind::Server, servers, &at),
            Some(_) => self.never.push(at.to_vec()),
            None => {}
        }
    }

    fn push(&mut self, kind: ItemKind, at: Vec<Step>, value: &Value) {
        let scripts = match kind {
            ItemKind::Rule | ItemKind::Directory | ItemKind::Mode => Some(Vec::new()),
            _ => script::scripts(self.project, value),
        };
        // What it runs cannot be told, so that nobody can trust it.
        let Some(scripts) = scripts else {
            self.never.push(at);
            return;
        };
        self.items.push(Item {
            kind,
            file: self.file,
            key: dotted(&at),
            at,
            value: value.clone(),
            scripts,
        });
    }
}

fn widening(
    keys: Keys,
    object: &Map<String, Value>,
    user: Option<&Value>,
    above: &[Step],
    places: &mut Vec<Vec<Step>>,
) {
    for (key, value) in object {
        let at = below(above, Step::Key(key.clone()));
        let user = user.and_then(|user| user.get(key));
        match (keys.class(key), value) {
            (Class::Relative(relative), _) if !relative.narrows(value, user) => places.push(at),
            (Class::Section(listed), Value::Object(inner)) => {
                widening(Keys::of_section(listed), inner, user, &at, places);
            }
            _ => {}
        }
    }
}

fn below(above: &[Step], step: Step) -> Vec<Step> {
    let mut at = above.to_vec();
    at.push(step);
    at
}

/// The keys of a place, without numbers.
fn dotted(at: &[Step]) -> String {
    let keys = at.iter().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

fn remove(value: &mut Value, at: &[Step]) {
    match (value, at) {
        (Value::Object(object), [Step::Key(key)]) => {
            object.shift_remove(key);
        }
        (Value::Array(list), [Step::Index(index)]) if *index < list.len() => {
            list.remove(*index);
        }
        (Value::Object(object), [Step::Key(key), rest @ ..]) => {
            if let Some(inner) = object.get_mut(key) {
                remove(inner, rest);
            }
        }
        (Value::Array(list), [Step::Index(index), rest @ ..]) => {
            if let Some(inner) = list.get_mut(*index) {
                remove(inner, rest);
            }
        }
        _ => {}
    }
}
