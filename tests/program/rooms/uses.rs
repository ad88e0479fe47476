//! Which rooms a source file uses: a reader of paths, no compiler.

use std::ops::Range;

/// A path that leads to a room.
#[derive(Debug, PartialEq)]
pub struct Use {
    /// The first name below the root of the crate.
    pub room: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// What the module at this path uses, its own room included. Tests may look anywhere: they are left out.
pub fn uses(module: &[&str], source: &str) -> Vec<Use> {
    let text = without_tests(&code(source));
    let inner = inner_modules(&text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_path(&text, at) {
        let mut leaves = Vec::new();
        at = start;
        leaves_of(&text, &mut at, &[], &mut leaves);
        let depth = module.len() + inner.iter().filter(|span| span.contains(&start)).count();
        for (path, place) in leaves {
            let up = path.iter().take_while(|name| **name == "super").count();
            let below_root = if path[0] == "crate" { 1 } else { up };
            if path[0] == "crate" || up == depth {
                let line = 1 + text[..place].matches('\n').count();
                found.extend(path.get(below_root).map(|room| Use { room: room.to_string(), line }));
            }
        }
    }
    found
}

/// Modules of a file that are compiled for tests only, with a file of their own.
pub fn test_modules(source: &str) -> Vec<String> {
    let text = code(source);
    let declared = test_items(&text).into_iter().filter_map(|item| {
        let words = text[item].trim_end_matches(';').split_whitespace();
        let (before, name) = (words.clone().rev().nth(1), words.last());
        name.filter(|_| before == Some("mod")).map(str::to_string)
    });
    declared.collect()
}

/// The source with blanks for comments, texts and letters, so that what is left is code in ASCII. Lines stay where they are.
fn code(source: &str) -> String {
    let letters: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        let end = end_of_blank(&letters, at);
        let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
        match end > at {
            true => out.extend(letters[at..end].iter().map(blank)),
            false => out.push(if letters[at].is_ascii() { letters[at] } else { ' ' }),
        }
        at = end.max(at + 1);
    }
    out
}

/// Where the comment, text or letter that begins here ends; `at` itself if none does.
fn end_of_blank(letters: &[char], at: usize) -> usize {
    let is = |at: usize, c: char| letters.get(at) == Some(&c);
    let after = |from: usize, end: &[char]| {
        let found = letters.get(from..).and_then(|rest| rest.windows(end.len()).position(|part| part == end));
        found.map_or(letters.len(), |skipped| from + skipped + end.len())
    };
    match letters[at] {
        '/' if is(at + 1, '/') => after(at, &['\n']) - 1,
        '/' if is(at + 1, '*') => after(at + 2, &['*', '/']),
        '"' => {
            let hashes = letters[..at].iter().rev().take_while(|c| **c == '#').count();
            match at.checked_sub(hashes + 1).is_some_and(|before| letters[before] == 'r') {
                true => after(at + 1, &[&['"'][..], &vec!['#'; hashes][..]].concat()),
                false => {
                    let mut end = at + 1;
                    while end < letters.len() && letters[end] != '"' {
                        end += if letters[end] == '\\' { 2 } else { 1 };
                    }
                    (end + 1).min(letters.len())
                }
            }
        }
        '\'' if is(at + 1, '\\') => after(at + 3, &['\'']),
        '\'' if is(at + 2, '\'') => at + 3,
        _ => at,
    }
}

/// Items that are compiled for tests only, their attributes included.
fn test_items(text: &str) -> Vec<Range<usize>> {
    let mut items: Vec<Range<usize>> = Vec::new();
    for (start, attribute) in text.match_indices("#[cfg(test)]") {
        if items.last().is_none_or(|last| start >= last.end) {
            items.push(start..end_of_item(text, start + attribute.len()));
        }
    }
    items
}

/// Where the item that begins here ends: after its braces, or its semicolon.
fn end_of_item(text: &str, start: usize) -> usize {
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (c == ';' || c == '}') {
            return start + at + 1;
        }
    }
    text.len()
}

fn without_tests(text: &str) -> String {
    let mut out = text.to_string();
    for item in test_items(text) {
        let blank: String = text[item.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        out.replace_range(item, &blank);
    }
    out
}

/// Modules within the file.
fn inner_modules(text: &str) -> Vec<Range<usize>> {
    let begins = text.match_indices("mod ").filter(|(at, _)| is_start_of_word(text, *at));
    let named = begins.map(|(at, _)| (at, at + word(&text[at + 4..]).len() + 4));
    let opened = named.filter(|(_, end)| text[*end..].trim_start().starts_with('{'));
    opened.map(|(at, end)| at..end_of_item(text, end)).collect()
}

/// The next `crate::` or `super::` that begins a path.
fn next_path(text: &str, from: usize) -> Option<usize> {
    let begins = |at: &usize| {
        let name = word(&text[*at..]);
        is_start_of_word(text, *at)
            && !text[..*at].ends_with("::")
            && matches!(name, "crate" | "super")
            && text[at + name.len()..].starts_with("::")
    };
    (from..text.len()).find(begins)
}

/// All paths of a tree such as `crate::{a::b, c}`, each with the place of its last name. Ends after the tree.
fn leaves_of<'a>(text: &'a str, at: &mut usize, stem: &[&'a str], leaves: &mut Vec<(Vec<&'a str>, usize)>) {
    skip_blanks(text, at);
    if text[*at..].starts_with('{') {
        while !text[*at..].starts_with('}') {
            *at += 1; // the brace, or the comma
            leaves_of(text, at, stem, leaves);
            // a name given with `as`
            *at += text[*at..].find([',', '}']).unwrap_or(text.len() - *at);
        }
        *at += 1;
        return;
    }
    let name = word(&text[*at..]);
    let path = [stem, &[name]].concat();
    let place = *at;
    *at += name.len();
    match text[*at..].starts_with("::") && !text[*at..].starts_with("::<") {
        true => {
            *at += 2;
            leaves_of(text, at, &path, leaves);
        }
        false if name.is_empty() => {} // `*`, or a comma before the brace
        false => leaves.push((path, place)),
    }
}

fn skip_blanks(text: &str, at: &mut usize) {
    *at += text[*at..].len() - text[*at..].trim_start().len();
}

/// The name at the beginning of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

fn is_start_of_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}
