//! What a claim's study found, and the verdict that follows from it.

use super::Claim;
use super::claim::Kind;
use serde::{Deserialize, Serialize};

/// What a measured number must be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Near a number, off by a share of it at most.
    Within {
        theirs: f64,
        share: f64,
    },
    Below(f64),
    Above(f64),
    Between(f64, f64),
    /// Told only: no statement depends on it.
    Told,
}

impl Bound {
    /// Whether a number keeps it; what is not a number keeps none, not even `Told`.
    pub fn holds(self, ours: f64) -> bool {
        match self {
            Bound::Within { theirs, share } => (ours - theirs).abs() <= share * theirs.abs(),
            Bound::Below(most) => ours < most,
            Bound::Above(least) => ours > least,
            Bound::Between(least, most) => (least..=most).contains(&ours),
            Bound::Told => !ours.is_nan(),
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Bound::Within { theirs, share } => write!(f, "{} ± {} %", number(theirs), number(100.0 * share)),
            Bound::Below(most) => write!(f, "< {}", number(most)),
            Bound::Above(least) => write!(f, "> {}", number(least)),
            Bound::Between(least, most) => write!(f, "{} – {}", number(least), number(most)),
            Bound::Told => f.write_str("–"),
        }
    }
}

/// A number in three or four digits.
pub fn number(v: f64) -> String {
    match v.abs() {
        _ if !v.is_finite() => format!("{v}"),
        0.0 => "0".into(),
        size if !(1e-3..1e6).contains(&size) => {
            let text = format!("{v:.2e}");
            text.replace(".00e", "e")
        }
        size => {
            let digits = (3 - size.log10().floor() as i32).clamp(0, 5) as usize;
            let text = format!("{v:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').into(),
                false => text,
            }
        }
    }
}

/// A number that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    pub what: String,
    /// What the paper has, as it writes it; empty if it gives none.
    pub theirs: String,
    /// `None` if it is not a number.
    pub ours: Option<f64>,
    pub unit: String,
    /// What the claim asks for.
    pub bound: Bound,
    /// What is asked for at least, for a claim that holds with a qualification.
    pub weaker: Option<Bound>,
}

impl Measure {
    /// 2: as claimed; 1: as the weaker bound asks; 0: neither.
    fn grade(&self) -> u8 {
        let ours = self.ours.unwrap_or(f64::NAN);
        match self.weaker {
            _ if self.bound.holds(ours) => 2,
            Some(weaker) if weaker.holds(ours) => 1,
            _ => 0,
        }
    }

    /// Whether what the claim asks for holds.
    pub fn holds(&self) -> bool {
        self.grade() == 2
    }
}

/// A table beside the claim: theirs, ours, deviations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRecord {
    pub title: String,
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A picture in the folder of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Its file's name.
    pub file: String,
    /// What it shows.
    pub shows: String,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Reproduced,
    /// It holds, but weaker than claimed or under other conditions; the record says which.
    Qualified,
    NotReproduced,
    /// Something that it needs is missing.
    Open,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Qualified => "qualified",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Open => "open",
        }
    }
}

/// All that is known of a claim after it was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Its full name, such as `laplacian/fig-2`.
    pub name: String,
    pub verdict: Verdict,
    pub measures: Vec<Measure>,
    pub tables: Vec<TableRecord>,
    pub pictures: Vec<Picture>,
    /// What a reader should know of this run.
    pub notes: Vec<String>,
    /// Why it is qualified, not reproduced or open; empty if it is reproduced.
    pub reason: String,
    /// What ended its study before its end, if anything did.
    pub error: Option<String>,
    /// How long it took (s).
    pub seconds: f64,
}

impl Record {
    /// A claim that was not tried yet.
    pub fn new(name: String) -> Self {
        Record {
            name,
            verdict: Verdict::Open,
            measures: Vec::new(),
            tables: Vec::new(),
            pictures: Vec::new(),
            notes: Vec::new(),
            reason: String::new(),
            error: None,
            seconds: 0.0,
        }
    }

    /// Draws the conclusion from what was measured.
    pub fn judge(&mut self, claim: &Claim) {
        let worst = self.measures.iter().map(Measure::grade).min().unwrap_or(0);
        (self.verdict, self.reason) = match claim.kind {
            Kind::Open(missing) => (Verdict::Open, missing.into()),
            _ if self.error.is_some() || worst == 0 => (Verdict::NotReproduced, self.failure(claim)),
            _ if worst == 1 || !claim.caveat.is_empty() => (Verdict::Qualified, self.qualification(claim)),
            _ => (Verdict::Reproduced, String::new()),
        };
    }

    /// The caveat, and which numbers keep a weaker bound only.
    fn qualification(&self, claim: &Claim) -> String {
        self.with_measures(claim.caveat, "Weaker than claimed", 1)
    }

    /// What the claim says of its failure, and which numbers fail.
    fn failure(&self, claim: &Claim) -> String {
        self.with_measures(claim.shortfall, "Not as claimed", 0)
    }

    /// A text and the measures of this grade.
    fn with_measures(&self, text: &str, head: &str, grade: u8) -> String {
        let found = self.measures.iter().filter(|measure| measure.grade() == grade);
        let found: Vec<&str> = found.map(|measure| measure.what.as_str()).collect();
        match found.as_slice() {
            [] => text.into(),
            found => format!("{text} {head}: {}.", found.join("; ")).trim().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(bounds: &[(f64, Bound, Option<Bound>)], claim: Claim) -> (Verdict, String) {
        let measure = |&(ours, bound, weaker): &(f64, Bound, Option<Bound>)| Measure {
            what: "speed".into(),
            theirs: String::new(),
            ours: ours.is_finite().then_some(ours),
            unit: String::new(),
            bound,
            weaker,
        };
        let mut record = Record::new("a/b".into());
        record.measures = bounds.iter().map(measure).collect();
        record.judge(&claim);
        (record.verdict, record.reason)
    }

    #[test]
    fn the_verdict_follows_from_the_bounds() {
        let claim = Claim { shortfall: "too slow", ..Claim::PHYSICS };
        let near = Bound::Within { theirs: 2.0, share: 0.1 };
        assert_eq!(judged(&[(2.1, near, None)], claim).0, Verdict::Reproduced);
        assert_eq!(
            judged(&[(2.3, near, None)], claim),
            (Verdict::NotReproduced, "too slow Not as claimed: speed.".into())
        );
        let weak = (2.3, near, Some(Bound::Above(1.0)));
        assert_eq!(judged(&[(2.1, near, None), weak], claim).0, Verdict::Qualified);
        assert!(judged(&[weak], claim).1.contains("speed"), "it says what is weaker");
        let caveat = Claim { caveat: "our own mesh", ..claim };
        assert_eq!(judged(&[(2.1, near, None)], caveat), (Verdict::Qualified, "our own mesh".into()));
    }

    #[test]
    fn what_is_no_number_or_was_not_measured_is_not_reproduced() {
        assert_eq!(judged(&[(f64::NAN, Bound::Told, None)], Claim::PHYSICS).0, Verdict::NotReproduced);
        assert_eq!(judged(&[], Claim::PHYSICS).0, Verdict::NotReproduced);
        assert_eq!(judged(&[], Claim::open("a", "b", "c.", "a rig")), (Verdict::Open, "a rig".into()));
    }

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (1234.5, "1234"), (0.05, "0.05"), (2.71649, "2.716"), (2e-7, "2e-7")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
