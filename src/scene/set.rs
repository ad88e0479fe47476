//! Overrides from the command line: `--set path=value`.

use toml::de::DeValue;
use toml::{Table, Value};

use super::source_map::{DEEPEST, SourceMap, value_too_deep};
use super::{default_body_name, explain};
use crate::error::InputError;

/// Applies the overrides one after another, in the tree of values and in the record of where they came from.
pub fn apply(table: &mut Table, places: &mut SourceMap, overrides: &[String]) -> Result<(), InputError> {
    for given in overrides {
        let path = apply_one(table, given).map_err(|(field, message)| InputError {
            field,
            ..InputError::new(format!("{message} (in --set {given})"))
        })?;
        places.record_override(path, given);
    }
    Ok(())
}

/// A refusal: the field it concerns, if one can be named, and why.
type Refusal = (Option<String>, String);

fn apply_one(table: &mut Table, given: &str) -> Result<Vec<String>, Refusal> {
    let Some((field, value)) = given.split_once('=') else {
        return Err((None, format!("`{given}` has no `=`; expected path=value, such as time.frames=60")));
    };
    let field = field.trim();
    let refuse = |message: String| (Some(field.to_string()), message);
    let mut path: Vec<String> = field.split('.').map(|segment| segment.trim().to_string()).collect();
    if path.iter().any(String::is_empty) {
        return Err(refuse("expected names joined by single dots, such as body.0.position.1".into()));
    }
    if path.len() > DEEPEST {
        return Err((None, format!("a path has at most {DEEPEST} names, this one {}", path.len())));
    }
    let value = parse_value(value.trim()).map_err(refuse)?;
    resolve_body(table, &mut path).map_err(refuse)?;
    let defaults = needs_default_list(table, &path).then(|| with_defaults(table)).flatten();
    let mut root = Value::Table(std::mem::take(table));
    let done = put(&mut root, &path, value, defaults.as_ref());
    if let Value::Table(changed) = root {
        *table = changed;
    }
    done.map_err(refuse)?;
    Ok(path)
}

/// A TOML value; or a number as other programs write it (`.5`, `5.`); or a string without its quotes.
fn parse_value(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Err("expected a value after `=`; an empty string is written \"\"".into());
    }
    let complaint = match DeValue::parse(text) {
        Ok(parsed) if value_too_deep(DEEPEST, 0, parsed.get_ref()).is_some() => {
            return Err("the value is nested too deeply".into());
        }
        Ok(parsed) => {
            let read = toml::de::ValueDeserializer::from(parsed);
            return serde::Deserialize::deserialize(read)
                .map_err(|error: toml::de::Error| explain::reword(error.message()));
        }
        Err(error) => error.message().to_string(),
    };
    if let Ok(number) = text.parse::<f64>() {
        return Ok(Value::Float(number));
    }
    if text.starts_with(['[', '{', '"', '\'']) || text.contains(char::is_control) {
        return Err(format!("the value is not valid TOML: {complaint}"));
    }
    Ok(Value::String(text.into()))
}

/// The bodies' names as far as they are given; the others have their defaults.
pub fn body_names(table: &Table) -> Vec<String> {
    let bodies = table.get("body").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |body: &Value| body.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
    let names = bodies.iter().map(name).enumerate();
    names.map(|(index, name)| if name.is_empty() { default_body_name(index) } else { name }).collect()
}

/// Replaces a body's name in the path by its number.
fn resolve_body(table: &Table, path: &mut [String]) -> Result<(), String> {
    let [first, second, ..] = path else { return Ok(()) };
    if first != "body" || !table.get("body").is_some_and(Value::is_array) {
        return Ok(());
    }
    let names = body_names(table);
    let known = match second.parse::<usize>() {
        Ok(index) => index < names.len(),
        Err(_) => match names.iter().position(|name| name == second) {
            Some(index) => {
                *second = index.to_string();
                true
            }
            None => false,
        },
    };
    if known {
        Ok(())
    } else {
        Err(format!("there is no body `{second}`; the bodies are: {}", names.join(", ")))
    }
}

/// Whether the path asks for an entry of a list that is not written in the scene, such as gravity.1.
fn needs_default_list(table: &Table, path: &[String]) -> bool {
    let missing = |depth: &usize| get(table, &path[..*depth]).is_none();
    (1..path.len())
        .find(missing)
        .is_some_and(|depth| path[depth..].iter().any(|s| s.parse::<usize>().is_ok()))
}

/// The scene so far with all its defaults, if it is one.
fn with_defaults(table: &Table) -> Option<Value> {
    Value::try_from(explain::scene_from(table.clone()).ok()?).ok()
}

fn get<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(first)?, |value, segment| match value {
        Value::Array(list) => list.get(segment.parse::<usize>().ok()?),
        _ => value.as_table()?.get(segment),
    })
}

/// Sets the value at `path`, creating intermediate tables; missing lists come from `defaults`.
fn put(root: &mut Value, path: &[String], value: Value, mut defaults: Option<&Value>) -> Result<(), String> {
    let mut at = root;
    for (depth, segment) in path.iter().enumerate() {
        let here = || path[..depth].join(".");
        let index = segment.parse::<usize>().ok();
        defaults = defaults.and_then(|default| match index {
            Some(index) => default.get(index),
            None => default.get(segment),
        });
        at = match at {
            Value::Table(table) => {
                let made = match (defaults, path.get(depth + 1).map(|next| next.parse::<usize>().is_ok())) {
                    (Some(Value::Array(list)), Some(true)) => Value::Array(list.clone()),
                    (_, Some(true)) if !table.contains_key(segment) => {
                        let list = path[..=depth].join(".");
                        return Err(format!("there is no list `{list}` to change an entry of"));
                    }
                    _ => Value::Table(Table::new()),
                };
                table.entry(segment.clone()).or_insert(made)
            }
            Value::Array(list) => {
                let count = list.len();
                match index.and_then(|index| list.get_mut(index)) {
                    Some(entry) => entry,
                    None if count == 0 => return Err(format!("`{}` is empty", here())),
                    None => {
                        return Err(format!(
                            "`{}` is a list of {count}, so expected a number below {count}, got `{segment}`",
                            here()
                        ));
                    }
                }
            }
            other => return Err(format!("`{}` is {}, it has no field `{segment}`", here(), kind(other))),
        };
    }
    *at = value;
    Ok(())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}
