//! Targets of inverse design, and their notation.
//!
//! ```text
//! targets = example { ";" example }
//! example = NAME ":" target { "," target }
//! target  = A "->" B              of the amplitude A, B remains after one cycle
//!         | [A] "half-life" T     the envelope halves in T seconds
//!         | [A] "ratio" ξ         the damping ratio is ξ, 0 to 1
//! ```
//!
//! Amplitudes are excitations |χ|, multiples of the example's shape; A is 1 where it is left out.

use super::cycle::LEAST_SHARE;
use crate::scene::Example;
use crate::suggest::closest;
use std::f64::consts::TAU;
use std::fmt;

/// Target for motion along an example, released at an amplitude.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub example: String,
    /// a: initial |χ|, at rest.
    pub amplitude: f64,
    pub wish: DecayGoal,
}

/// A wanted decay, in one of three forms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DecayGoal {
    /// b: |χ| after one cycle.
    Remaining(f64),
    /// The half-life of the envelope (s): b = a 2^(−T/t½), T the period.
    HalfLife(f64),
    /// ξ, the fraction of critical damping: b = a exp(−2πξ/√(1 − ξ²)).
    Ratio(f64),
}

/// Why a target is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TargetError {
    /// There is none.
    #[error("no target; expected for example `ear: 0.8->0.2, 1.6->0.75`")]
    Nothing,
    /// It names no example.
    #[error("`{0}` names no example; expected a name and a colon first, such as `ear: 0.8->0.2`")]
    Nameless(String),
    /// It has none of the three forms.
    #[error(
        "`{0}` is not a target; expected `0.8->0.2` (amplitudes at the start and after one cycle), `half-life 0.4` (s) or `ratio 0.05`, \
         the last two preceded by an amplitude if it is not 1"
    )]
    Unknown(String),
    /// Something stands where a number should.
    #[error("`{text}`: `{number}` is not a number; expected {expected}")]
    NoNumber { text: String, number: String, expected: Quantity },
    /// A number is out of its range.
    #[error("`{text}`: {value} is out of range; expected {expected}")]
    Range { text: String, value: f64, expected: Quantity },
    /// As much remains as there was, or more: b ≥ a.
    #[error(
        "`{text}`: damping reduces the amplitude; expected less than {amplitude} to remain, not {remaining}"
    )]
    NoLoss { text: String, amplitude: f64, remaining: f64 },
    /// The target is too small to measure; `least` is the smallest b that is not.
    #[error(
        "`{text}`: less than 0.2 % of the initial amplitude cannot be measured; expected at least {least} to remain, not {remaining}"
    )]
    TooLittle { text: String, least: f64, remaining: f64 },
    /// The same of a half-life; a cycle takes `period` (s).
    #[error(
        "`{text}`: a cycle takes {period:.3} s or more, so less than 0.2 % would remain, too little to measure; expected a \
         half-life of {least:.3} s or more"
    )]
    TooFast { text: String, period: f64, least: f64 },
    /// Two targets of an example have the same amplitude.
    #[error("`{example}` has two targets at amplitude {amplitude}; expected one")]
    Twice { example: String, amplitude: f64 },
    /// The scene has no such example.
    #[error("the scene has no example `{name}`{hint}")]
    NoExample { name: String, hint: String },
}

/// With this ratio 0.5 % of an amplitude remain after a cycle; less cannot be measured (`cycle`).
const LARGEST_RATIO: f64 = 0.65;

/// The numbers of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// a
    Amplitude,
    /// b
    Remaining,
    /// t½
    HalfLife,
    /// ξ
    Ratio,
}

impl Quantity {
    fn allows(self, value: f64) -> bool {
        let below = if self == Quantity::Ratio { LARGEST_RATIO } else { f64::INFINITY };
        0.0 < value && value < below
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Amplitude => "an initial amplitude greater than 0",
            // where nothing remains every stronger damping fits as well
            Quantity::Remaining => "a remaining amplitude greater than 0",
            Quantity::HalfLife => "a half-life greater than 0 (s)",
            Quantity::Ratio => "a damping ratio between 0 and 0.65, so that the motion visibly swings back",
        })
    }
}

impl DecayGoal {
    /// b after a cycle from amplitude `a` that took `period` (s); `None` if there was no cycle and b depends on its time.
    pub fn remaining(self, a: f64, period: Option<f64>) -> Option<f64> {
        match self {
            DecayGoal::Remaining(b) => Some(b),
            DecayGoal::HalfLife(half_life) => period.map(|period| a * (-period / half_life).exp2()),
            DecayGoal::Ratio(xi) => Some(a * (-TAU * xi / (1.0 - xi * xi).sqrt()).exp()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { example, amplitude, wish } = self;
        match wish {
            DecayGoal::Remaining(b) => write!(f, "{example}: {amplitude}->{b}"),
            DecayGoal::HalfLife(time) => write!(f, "{example}: {amplitude} half-life {time}"),
            DecayGoal::Ratio(xi) => write!(f, "{example}: {amplitude} ratio {xi}"),
        }
    }
}

/// Reads targets; see the grammar at the head of this file.
///
/// ```
/// use dashpot::design::target::{DecayGoal, parse};
///
/// let targets = parse("ear: 0.8->0.2, 1.6->0.75; belly: half-life 0.4")?;
/// assert_eq!(targets.len(), 3);
/// assert_eq!((targets[1].amplitude, targets[1].wish), (1.6, DecayGoal::Remaining(0.75)));
/// assert_eq!((targets[2].amplitude, targets[2].wish), (1.0, DecayGoal::HalfLife(0.4)));
/// # Ok::<(), dashpot::design::target::TargetError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Target>, TargetError> {
    let mut targets = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, list) = named(part)?;
        for text in list.split(',') {
            targets.push(Target { example: name.clone(), ..target(text.trim())? });
        }
    }
    if targets.is_empty() {
        return Err(TargetError::Nothing);
    }
    Ok(targets)
}

/// The name of an example and what follows its colon. Names may hold colons, targets do not.
pub(super) fn named(part: &str) -> Result<(String, &str), TargetError> {
    let nameless = || TargetError::Nameless(part.trim().into());
    let (name, list) = part.rsplit_once(':').ok_or_else(nameless)?;
    match name.trim() {
        "" => Err(nameless()),
        name => Ok((name.into(), list)),
    }
}

/// An initial amplitude.
pub(super) fn amplitude(text: &str) -> Result<f64, TargetError> {
    quantity(text.trim(), text, Quantity::Amplitude)
}

/// The number of an example.
pub(super) fn find(name: &str, examples: &[Example]) -> Result<usize, TargetError> {
    examples.iter().position(|example| example.name == name).ok_or_else(|| no_example(name, examples))
}

/// A target of an example that is not named yet.
fn target(text: &str) -> Result<Target, TargetError> {
    let number = |number: &str, expected| quantity(text, number, expected);
    let of = |amplitude, wish| Target { example: String::new(), amplitude, wish };
    if let Some((a, b)) = text.split_once("->").or_else(|| text.split_once('→')) {
        let (a, b) = (number(a, Quantity::Amplitude)?, number(b, Quantity::Remaining)?);
        if b >= a {
            return Err(TargetError::NoLoss { text: text.into(), amplitude: a, remaining: b });
        }
        if b < LEAST_SHARE * a {
            return Err(TargetError::TooLittle { text: text.into(), least: LEAST_SHARE * a, remaining: b });
        }
        return Ok(of(a, DecayGoal::Remaining(b)));
    }
    let words = ["half-life", "ratio"].map(|word| text.split_once(word));
    let (a, value, is_ratio) = match words {
        [Some((a, value)), _] => (a, value, false),
        [_, Some((a, value))] => (a, value, true),
        _ => return Err(TargetError::Unknown(text.into())),
    };
    let a = if a.trim().is_empty() { 1.0 } else { number(a, Quantity::Amplitude)? };
    Ok(of(
        a,
        match is_ratio {
            true => DecayGoal::Ratio(number(value, Quantity::Ratio)?),
            false => DecayGoal::HalfLife(number(value, Quantity::HalfLife)?),
        },
    ))
}

fn quantity(text: &str, number: &str, expected: Quantity) -> Result<f64, TargetError> {
    let number = number.trim();
    let no_number = || TargetError::NoNumber { text: text.into(), number: number.into(), expected };
    let value: f64 = number.parse().map_err(|_| no_number())?;
    match expected.allows(value) {
        true => Ok(value),
        false => Err(TargetError::Range { text: text.into(), value, expected }),
    }
}

/// For every target the number of its example, in the order in which they are designed: by example, by amplitude.
pub fn assign(targets: &[Target], examples: &[Example]) -> Result<Vec<(usize, Target)>, TargetError> {
    let mut assigned = Vec::with_capacity(targets.len());
    for target in targets {
        check(target)?;
        assigned.push((find(&target.example, examples)?, target.clone()));
    }
    assigned.sort_by(|(i, a), (j, b)| i.cmp(j).then(a.amplitude.total_cmp(&b.amplitude)));
    let same =
        |pair: &[(usize, Target)]| pair[0].0 == pair[1].0 && pair[0].1.amplitude == pair[1].1.amplitude;
    match assigned.windows(2).find(|pair| same(pair)) {
        Some([(_, Target { example, amplitude, .. }), ..]) => {
            Err(TargetError::Twice { example: example.clone(), amplitude: *amplitude })
        }
        _ if assigned.is_empty() => Err(TargetError::Nothing),
        _ => Ok(assigned),
    }
}

/// Refuses what [`parse`] would: targets may be put together in code as well.
fn check(of: &Target) -> Result<(), TargetError> {
    target(of.to_string().rsplit_once(':').map_or("", |(_, text)| text.trim())).map(|_| ())
}

fn no_example(name: &str, examples: &[Example]) -> TargetError {
    let names = || examples.iter().map(|example| example.name.as_str());
    let hint = match closest(name, names()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None if examples.is_empty() => "; it has no [[damping.example]]".into(),
        None => {
            format!(
                "; the examples are {}",
                names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )
        }
    };
    TargetError::NoExample { name: name.into(), hint }
}
