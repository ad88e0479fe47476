//! "Did you mean": the known name that is nearest to a mistyped one.

use strsim::levenshtein;

/// The candidate with the fewest edits to `word`, if they are few enough to be a slip.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // A long word is no slip of anything (and costs time).
    if letters > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (levenshtein(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| {
            // A third of the letters may be wrong, at least one.
            let allowed = (letters.max(candidate.len()) / 3).max(1);
            distance <= allowed || (letters >= 3 && candidate.starts_with(word))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let scenes = ["bar", "cube", "trampoline", "t-pipe"];
        assert_eq!(closest("trampolin", scenes), Some("trampoline"));
        assert_eq!(closest("tramp", scenes), Some("trampoline"));
        assert_eq!(closest("BAR", scenes), Some("bar"));
        assert_eq!(closest("tpipe", scenes), Some("t-pipe"));
        assert_eq!(closest("penguin", scenes), None);
    }
}
