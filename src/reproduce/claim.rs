//! Claims and papers: the table of what is tried.

use super::{
    Study, constrained, example, laplacian, optimized, optimized_rules, optimized_springs, reduced, thesis,
    thesis_control, thesis_modes, thesis_oscillators, thesis_viscosity,
};
use crate::error::InputError;
use crate::{Result, suggest};

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Motion: the same on every machine, up to rounding.
    Physics,
    /// Time on this machine: tried alone, after all others, and told apart from them.
    Timing,
    /// Not tried, because something is missing that it needs; says what.
    Open(&'static str),
}

/// A statement of a paper, and how it is tried.
#[derive(Clone, Copy)]
pub struct Claim {
    /// Its name within the paper, such as `fig-2`.
    pub id: &'static str,
    /// Where the paper says it, such as `Figure 2`.
    pub place: &'static str,
    /// What the paper says, in our words.
    pub says: &'static str,
    /// What is run to try it.
    pub runs: &'static str,
    /// Motion, time, or nothing yet.
    pub kind: Kind,
    /// Whether `--quick` tries it: a few seconds.
    pub quick: bool,
    /// Why it is *qualified* at best: what of the paper is different or not tried here. Empty if nothing is.
    pub caveat: &'static str,
    /// Why it is *not reproduced*, and what was tried. Empty for claims that are.
    pub shortfall: &'static str,
    /// Runs and measures.
    pub study: fn(&mut Study) -> Result<()>,
}

impl Claim {
    /// What rows leave out: a motion, tried in full runs only, without caveat.
    pub const PHYSICS: Claim = Claim {
        id: "",
        place: "",
        says: "",
        runs: "",
        kind: Kind::Physics,
        quick: false,
        caveat: "",
        shortfall: "",
        study: |_| Ok(()),
    };

    /// A claim that cannot be tried yet, and what is missing.
    pub const fn open(
        id: &'static str,
        place: &'static str,
        says: &'static str,
        missing: &'static str,
    ) -> Self {
        Claim { id, place, says, kind: Kind::Open(missing), ..Claim::PHYSICS }
    }
}

/// A paper and its claims.
pub struct Paper {
    /// First part of the claims' names, such as `laplacian`.
    pub key: &'static str,
    pub title: &'static str,
    pub authors: &'static str,
    /// The tables of its claims, in the paper's order.
    pub claims: &'static [&'static [Claim]],
}

impl Paper {
    /// All claims in the paper's order.
    pub fn claims(&self) -> impl Iterator<Item = &'static Claim> + use<> {
        self.claims.iter().copied().flatten()
    }

    /// The full name of a claim, such as `laplacian/fig-2`.
    pub fn name(&self, claim: &Claim) -> String {
        format!("{}/{}", self.key, claim.id)
    }
}

/// The papers that Dashpot is made of.
pub const PAPERS: &[Paper] = &[
    Paper {
        key: "laplacian",
        title: "Laplacian Damping for Projective Dynamics",
        authors: "J. Li, T. Liu, L. Kavan",
        claims: &[laplacian::FIGURES, laplacian::TEXT, laplacian::TIMES],
    },
    Paper {
        key: "constrained",
        title: "Constrained Projective Dynamics: Real-Time Simulation of Deformable Objects with Energy-Momentum Conservation",
        authors: "M. H. Kee, K. Um, W. Jeong, J. Han",
        claims: constrained::CLAIMS,
    },
    Paper {
        key: "example",
        title: "Example-Based Damping Design",
        authors: "H. Xu, J. Barbič",
        claims: &[example::CLAIMS, reduced::CLAIMS],
    },
    Paper {
        key: "optimized",
        title: "Optimized Damping for Dynamic Simulations",
        authors: "R. Schmedding, M. Gissler, M. Teschner",
        claims: &[optimized_springs::CLAIMS, optimized_rules::CLAIMS, optimized::CLAIMS],
    },
    Paper {
        key: "thesis",
        title: "Controllable, Non-Oscillatory Damping for Deformable Objects",
        authors: "H. D. Young",
        claims: &[
            thesis_oscillators::CLAIMS,
            thesis_modes::CLAIMS,
            thesis_viscosity::CLAIMS,
            thesis::CLAIMS,
            thesis_control::CLAIMS,
        ],
    },
];

/// The claims of these names; a paper's name means all of its claims, no name means all there are.
pub fn select(names: &[String]) -> Result<Vec<(&'static Paper, &'static Claim)>> {
    let all = || PAPERS.iter().flat_map(|paper| paper.claims().map(move |claim| (paper, claim)));
    for name in names {
        let known = |(paper, claim): (&Paper, &Claim)| paper.key == name || paper.name(claim) == *name;
        if !all().any(known) {
            let names: Vec<String> = all().map(|(paper, claim)| paper.name(claim)).collect();
            let papers = PAPERS.iter().map(|paper| paper.key);
            let near = suggest::closest(name, names.iter().map(String::as_str).chain(papers));
            let hint = near.map_or("see --list".to_string(), |near| format!("did you mean `{near}`?"));
            return Err(InputError::field("ID", format!("there is no claim `{name}`; {hint}")).into());
        }
    }
    let chosen = |(paper, claim): &(&'static Paper, &'static Claim)| {
        names.is_empty() || names.iter().any(|name| paper.key == name || paper.name(claim) == *name)
    };
    Ok(all().filter(chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn claims_have_names_of_their_own_and_say_what_they_are() {
        let mut names = BTreeSet::new();
        for (paper, claim) in select(&[]).unwrap() {
            let name = paper.name(claim);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!claim.id.is_empty() && claim.id.chars().all(plain), "{name} is a file's name, too");
            assert!(!claim.place.is_empty() && claim.says.ends_with('.'), "{name}");
            assert!(matches!(claim.kind, Kind::Open(_)) || claim.runs.ends_with('.'), "{name}");
            assert!(names.insert(name.clone()), "{name} twice");
        }
    }

    #[test]
    fn claims_are_chosen_by_name_or_paper() {
        let paper = &PAPERS[0];
        let first = paper.claims().next().unwrap();
        assert_eq!(select(&[paper.key.into()]).unwrap().len(), paper.claims().count());
        assert_eq!(select(&[paper.name(first)]).unwrap().len(), 1);
        let refused = select(&["laplacain".into()]).err().unwrap().to_string();
        assert!(refused.contains("did you mean `laplacian`?"), "{refused}");
    }
}
