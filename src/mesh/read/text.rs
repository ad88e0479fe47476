//! The words and numbers of a text file, each with its line, so that a fault can be pointed at.

use crate::Vec3;
use crate::error::InputError;
use std::path::Path;

type Parsed<T> = Result<T, InputError>;

/// Coordinates beyond this are refused: their cube, a volume, must be a finite number with room to spare.
pub const MAX_COORDINATE: f64 = 1e50;

/// Files beyond this are refused (bytes): the readers hold the whole file.
const MAX_FILE: u64 = 4 << 30;

/// The bytes of a file that must be there and be a file.
pub fn contents(path: &Path) -> Parsed<Vec<u8>> {
    let fault = |message: String| InputError::new(message).in_file(path);
    let about = std::fs::metadata(path).map_err(|e| fault(format!("cannot be read: {e}")))?;
    // A pipe or a device might never end.
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "not a regular file" };
        return Err(fault(format!("is {what}; expected a mesh file")));
    }
    if about.len() > MAX_FILE {
        return Err(fault(format!("is larger than {} GiB", MAX_FILE >> 30)));
    }
    let bytes = std::fs::read(path).map_err(|e| fault(format!("cannot be read: {e}")))?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(InputError::at(path, 1, "the file is empty"));
    }
    Ok(bytes)
}

/// A place in a text: lines, and words within the current line. Blank lines and comments are passed over.
pub struct Text<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    /// Where the line after the current one begins.
    next_line: usize,
    /// The current line, what of it is not read yet.
    rest: &'a [u8],
    /// Number of the current line, from 1; 0 before the first.
    number: usize,
    comment: Option<u8>,
}

impl<'a> Text<'a> {
    /// Before the first line of `bytes`, the contents of `file`.
    pub fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        let bytes_after_mark = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        Text { file, bytes: bytes_after_mark, next_line: 0, rest: &[], number: 0, comment: None }
    }

    /// From now on `mark` begins a comment that lasts to the end of its line.
    pub fn comments(&mut self, mark: u8) {
        self.comment = Some(mark);
    }

    /// A fault in the current line.
    pub fn fault(&self, message: impl Into<String>) -> InputError {
        InputError::at(self.file, self.number.max(1), message)
    }

    /// The fault that the file ends too early.
    pub fn ended(&self, expected: &str) -> InputError {
        self.fault(format!("the file ends here; expected {expected}"))
    }

    /// A capacity for `count` things that the file announces: never more than its bytes can hold.
    pub fn capacity(&self, count: usize) -> usize {
        count.min(self.bytes.len() / 2)
    }

    /// All bytes of the file.
    pub fn all_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn file(&self) -> &'a Path {
        self.file
    }

    pub fn bytes_after_line(&self) -> &'a [u8] {
        &self.bytes[self.next_line..]
    }

    /// Goes to the next line, blank or not; `None` at the end.
    pub fn raw_line(&mut self) -> Option<&'a [u8]> {
        let after = &self.bytes[self.next_line..];
        if after.is_empty() {
            self.rest = &[];
            return None;
        }
        let length = after.iter().position(|&b| b == b'\n').unwrap_or(after.len());
        self.next_line = (self.next_line + length + 1).min(self.bytes.len());
        self.number += 1;
        self.rest = &after[..length];
        if let Some(mark) = self.comment
            && let Some(end) = self.rest.iter().position(|&b| b == mark)
        {
            self.rest = &self.rest[..end];
        }
        Some(self.rest)
    }

    /// Goes to the next line that says something; false at the end.
    pub fn line(&mut self) -> bool {
        while let Some(line) = self.raw_line() {
            if !line.iter().all(u8::is_ascii_whitespace) {
                return true;
            }
        }
        false
    }

    /// Passes over the rest of the current line.
    pub fn leave_line(&mut self) {
        self.rest = &[];
    }

    /// The next word of the current line.
    pub fn word_here(&mut self) -> Option<&'a [u8]> {
        let word = self.rest.trim_ascii_start();
        let length = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
        self.rest = &word[length..];
        (length > 0).then(|| &word[..length])
    }

    /// The next word, in whatever line.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.word_here() {
                return Some(word);
            }
            if !self.line() {
                return None;
            }
        }
    }

    /// The next word without reading it.
    pub fn peek(&mut self) -> Option<&'a [u8]> {
        let (next_line, rest, number) = (self.next_line, self.rest, self.number);
        let word = self.word();
        (self.next_line, self.rest, self.number) = (next_line, rest, number);
        word
    }

    fn needed_here(&mut self, what: &str) -> Parsed<&'a [u8]> {
        self.word_here().ok_or_else(|| self.fault(format!("the line ends too early; expected {what}")))
    }

    fn needed(&mut self, what: &str) -> Parsed<&'a [u8]> {
        self.word().ok_or_else(|| self.ended(what))
    }

    /// A number of any kind, finite and not astronomic.
    pub fn real(&mut self, what: &str) -> Parsed<f64> {
        let word = self.needed(what)?;
        self.parse_real(word, what)
    }

    pub fn integer(&mut self, what: &str) -> Parsed<i64> {
        let word = self.needed(what)?;
        self.parse_integer(word, what)
    }

    /// A whole number in the current line.
    pub fn integer_here(&mut self, what: &str) -> Parsed<i64> {
        let word = self.needed_here(what)?;
        self.parse_integer(word, what)
    }

    /// A whole number from 0 on.
    pub fn count(&mut self, what: &str) -> Parsed<usize> {
        let number = self.integer(what)?;
        usize::try_from(number).map_err(|_| self.fault(format!("{number} is no {what}")))
    }

    pub fn point(&mut self) -> Parsed<Vec3> {
        Ok(Vec3::new(self.real("x")?, self.real("y")?, self.real("z")?))
    }

    /// Three coordinates in the current line.
    pub fn point_here(&mut self) -> Parsed<Vec3> {
        let mut point = Vec3::zeros();
        for (axis, what) in ["x", "y", "z"].into_iter().enumerate() {
            let word = self.needed_here(what)?;
            point[axis] = self.parse_real(word, what)?;
        }
        Ok(point)
    }

    /// A number from a word of the current line.
    pub fn parse_real(&self, word: &[u8], what: &str) -> Parsed<f64> {
        let value = str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
        match value {
            Some(value) if value.abs() <= MAX_COORDINATE => Ok(value),
            Some(_) => Err(self.fault(format!("`{}` for {what} is not a usable number", show(word)))),
            None => Err(self.fault(format!("expected {what}, a number, but found `{}`", show(word)))),
        }
    }

    fn parse_integer(&self, word: &[u8], what: &str) -> Parsed<i64> {
        let value = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        value
            .ok_or_else(|| self.fault(format!("expected {what}, a whole number, but found `{}`", show(word))))
    }

    /// The place of vertex `number` in a list that starts with `first`, of `vertices` read so far.
    pub fn vertex(&self, number: i64, first: i64, vertices: usize) -> Parsed<u32> {
        let index = number.checked_sub(first).and_then(|i| u32::try_from(i).ok());
        index.filter(|&i| (i as usize) < vertices).ok_or_else(|| match vertices {
            0 => self.fault(format!("vertex {number} is used before any vertex is defined")),
            _ => {
                let last = first + vertices as i64 - 1;
                self.fault(format!("there is no vertex {number}: they are numbered {first} to {last}"))
            }
        })
    }
}

/// A word for a message: printable, and not too long.
pub fn show(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(40)]);
    let printable = text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if word.len() > 40 { format!("{printable}…") } else { printable }
}
