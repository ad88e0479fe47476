//! "Did you mean": the known name that is nearest to a mistyped one.

/// The candidate with the fewest edits to `word`, if they are few enough to be a slip.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // A long word is no slip of anything (and costs time).
    if letters > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|&(distance, candidate)| {
            // A third of the letters may be wrong, at least one.
            let allowed = (letters.max(candidate.len()) / 3).max(1);
            distance <= allowed || (letters >= 3 && candidate.starts_with(word))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance (insertions, deletions, replacements), one row at a time.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
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
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
