//! The hunt: make a command, have it judged, run it if it may, and look at what it did.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::corpus;
use super::grammar::Grammar;
use super::jail::{Effect, Jail, Setup};
use super::judge::Judge;
use super::mutation::{minimise, mutate};
use super::scene;

/// A command that may run and does more than it should.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) class: String,
    pub(super) scene: &'static str,
    pub(super) command: String,
    pub(super) reason: String,
    pub(super) effects: Vec<Effect>,
    /// How many commands had been executed.
    pub(super) after: usize,
}

/// The hits of a hunt and its size.
#[derive(Debug, Default)]
pub(super) struct Bag {
    pub(super) hits: Vec<Hit>,
    pub(super) made: usize,
    pub(super) executed: usize,
}

impl Bag {
    fn add(&mut self, other: Self) {
        self.hits.extend(other.hits);
        self.made += other.made;
        self.executed += other.executed;
    }

    /// One line for each hit, and how much was tried.
    pub(super) fn report(&self) -> String {
        let size = format!(
            "{} commands made, {} executed, {} hits",
            self.made,
            self.executed,
            self.hits.len()
        );
        let line = |hit: &Hit| {
            let Hit {
                class,
                scene,
                command,
                reason,
                effects,
                after,
            } = hit;
            format!("{class} | {scene} | {command:?} | {reason} | {effects:?} | after {after}")
        };
        let lines = std::iter::once(size).chain(self.hits.iter().map(line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// How long a hunt goes on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Length {
    Commands(usize),
    Time(Duration),
}

/// Hits of one class that are told; the rest would say the same.
const TOLD: usize = 6;

/// How many commands that may run are kept to be changed.
const POOL: usize = 2_000;

/// One who hunts.
pub(super) struct Hunter {
    jail: Jail,
    judge: Judge,
    /// What the judgement allows anyway.
    expected: fn(&Effect) -> bool,
    told: BTreeMap<String, usize>,
    bag: Bag,
}

impl Hunter {
    pub(super) fn new(judge: Judge, setup: &Setup) -> Self {
        Self {
            jail: Jail::start(setup),
            judge,
            expected: |_| false,
            told: BTreeMap::new(),
            bag: Bag::default(),
        }
    }

    pub(super) fn expecting(mut self, expected: fn(&Effect) -> bool) -> Self {
        self.expected = expected;
        self
    }

    /// Judges a command and runs it if it may. Returns whether it may.
    pub(super) fn attempt(&mut self, scene: &'static str, command: &str) -> bool {
        self.bag.made += 1;
        let Some((reason, effects)) = self.effects(scene, command) else {
            return false;
        };
        if !effects.is_empty() {
            self.tell(scene, command, &reason, &effects);
        }
        true
    }

    fn effects(&mut self, scene: &'static str, command: &str) -> Option<(String, Vec<Effect>)> {
        let (work, home) = (self.jail.work(scene), self.jail.home(scene));
        let reason = self.judge.allows(command, &work, &home)?;
        let mut effects = self.jail.run(scene, command);
        effects.retain(|effect| !(self.expected)(effect));
        Some((reason, effects))
    }

    fn tell(&mut self, scene: &'static str, command: &str, reason: &str, effects: &[Effect]) {
        let kind = effects[0].kind();
        let after = self.jail.runs;
        let told = self.told.entry(class(command).to_owned()).or_default();
        *told += 1;
        if *told > TOLD {
            return;
        }
        let hits = |hunter: &mut Self, text: &str| {
            let found = hunter.effects(scene, text);
            found.is_some_and(|(_, effects)| effects.iter().any(|it| it.kind() == kind))
        };
        // What does not happen again was chance, such as a process that was slow to end.
        if !hits(self, command) {
            return;
        }
        let command = minimise(command, |text| hits(self, text));
        self.bag.hits.push(Hit {
            class: class(&command).to_owned(),
            scene,
            command,
            reason: reason.to_owned(),
            effects: effects.to_vec(),
            after,
        });
    }

    pub(super) fn finish(mut self) -> Bag {
        self.bag.executed = self.jail.runs;
        self.bag
    }

    /// Hunts with commands from the grammar and with changed ones.
    fn hunt(&mut self, grammar: &Grammar, seed: u64, length: Length) {
        let mut chance = Chance::new(seed);
        let hostile = corpus::hostile().into_iter().map(|seed| seed.command);
        let seeds: Vec<String> = hostile.chain(corpus::everyday()).collect();
        let mut pool = VecDeque::from(corpus::everyday());
        let (scenes, begin) = (scene::names(), Instant::now());
        for made in 0.. {
            match length {
                Length::Commands(most) if made >= most => return,
                Length::Time(limit) if begin.elapsed() > limit => return,
                _ => {}
            }
            let command = match chance.below(5) {
                0 => grammar.command(&mut chance),
                1 | 2 => mutate(chance.pick(&seeds).as_str(), &seeds, grammar, &mut chance),
                _ => {
                    let known = pool[chance.below(pool.len())].clone();
                    mutate(&known, &seeds, grammar, &mut chance)
                }
            };
            // The first scene has most of what there is to read.
            let scene = if chance.one_in(2) {
                scenes[0]
            } else {
                chance.pick(&scenes)
            };
            if self.attempt(scene, &command) {
                if pool.len() >= POOL {
                    pool.pop_front();
                }
                pool.push_back(command);
            }
        }
    }
}

/// Hunts on several threads.
pub(super) fn hunt(
    judge: &Judge,
    setup: &Setup,
    expected: fn(&Effect) -> bool,
    seed: u64,
    length: Length,
) -> Bag {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    let grammar = &Grammar::new();
    let hunters = std::thread::scope(|scope| {
        let spawn = |number: usize| {
            scope.spawn(move || {
                let mut hunter = Hunter::new(judge.clone(), setup).expecting(expected);
                hunter.hunt(grammar, seed + number as u64, length);
                hunter.finish()
            })
        };
        let hunters: Vec<_> = (0..threads).map(spawn).collect();
        hunters
            .into_iter()
            .map(|it| it.join().unwrap())
            .collect::<Vec<_>>()
    });
    let mut bag = Bag::default();
    hunters.into_iter().for_each(|it| bag.add(it));
    bag
}

/// Names the kind of hole that a minimal command goes through, from how it looks.
pub(super) fn class(command: &str) -> &'static str {
    let has = |piece: &str| command.contains(piece);
    let is_glob = command.contains(['*', '?']) || has("[#-]") || has("[l]");
    let table = [
        (has("%n"), "h: printf %n"),
        (
            has("-eq") || has("-lt") || has("-v") && has("a["),
            "g: arithmetic",
        ),
        (has("[[ "), "e: pattern of a test"),
        (has("[ ") && has(">"), "f: redirection in a test"),
        (has("$ "), "c: dollar and blank"),
        (has("=~") || has("=="), "d: regex word"),
        (has("<<") && !has("<<<"), "b: heredoc"),
        (has("<") || has(">"), "a: redirection"),
        (has("git"), "H3: git"),
        (is_glob, "H1/H2: pattern"),
    ];
    let found = table.into_iter().find(|(is, _)| *is);
    found.map_or("other", |(_, name)| name)
}
