//! Validation of damping by example.

use super::attach::check_select;
use crate::scene::check::{Checked, at_least_one, fault, known, positive, refuse_if};
use crate::scene::{Example, Scene, Shape};

/// Validates `[[damping.example]]`.
pub fn check_examples(scene: &Scene) -> Checked {
    for (index, example) in scene.damping.examples.iter().enumerate() {
        let at = format!("damping.example.{index}");
        check_name(scene, index, &at)?;
        check_body(scene, example, &at)?;
        check_shape(&format!("{at}.shape"), &example.shape)?;
    }
    Ok(())
}

/// The name that an example has or will get.
fn name_of(example: &Example, index: usize) -> String {
    if example.name.is_empty() { format!("example{}", index + 1) } else { example.name.clone() }
}

fn check_name(scene: &Scene, index: usize, at: &str) -> Checked {
    let field = format!("{at}.name");
    let examples = &scene.damping.examples;
    let name = name_of(&examples[index], index);
    if name.contains([';', ':', ',', '=']) || name.contains(char::is_control) || name.trim() != name {
        let message = format!(
            "must not contain `;`, `:`, `,`, `=` or control characters, nor begin or end with blanks: `dashpot design` could \
             not address it; got `{name}`"
        );
        return fault(field, message);
    }
    match (0..index).find(|&earlier| name_of(&examples[earlier], earlier) == name) {
        Some(earlier) => {
            fault(field, format!("must be unique, but example {earlier} is called `{name}` too"))
        }
        None => Ok(()),
    }
}

fn check_body(scene: &Scene, example: &Example, at: &str) -> Checked {
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    match &example.body {
        Some(name) => known(format!("{at}.body"), name, &names),
        None if names.len() > 1 => fault(
            format!("{at}.body"),
            format!("is required, there are several bodies: {}", names.join(", ")),
        ),
        None => Ok(()),
    }
}

fn check_shape(at: &str, shape: &Shape) -> Checked {
    let ways = [shape.mode.is_some(), shape.pull.is_some(), shape.file.is_some()];
    let message = "give exactly one of: `mode`, `pull` (with `select`), `file`";
    refuse_if(ways.iter().filter(|&&given| given).count() != 1, at, message)?;
    if let Some(mode) = shape.mode {
        at_least_one(&format!("{at}.mode"), mode)?;
    }
    match (&shape.pull, &shape.select) {
        (Some(force), Some(select)) => {
            refuse_if(*force == [0.0; 3], format!("{at}.pull"), "must not be the zero vector")?;
            check_select(&format!("{at}.select"), select)?;
        }
        (Some(_), None) => return fault(format!("{at}.select"), "is required with `pull`: what is pulled"),
        (None, Some(_)) => return fault(format!("{at}.select"), "goes with `pull` only"),
        (None, None) => {}
    }
    if shape.file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
        return fault(format!("{at}.file"), "must name a file");
    }
    shape.size.map_or(Ok(()), |size| positive(format!("{at}.size"), size))
}
