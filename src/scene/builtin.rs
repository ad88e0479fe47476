//! The built-in scenes: one file in assets/scenes and one line here for each.

/// A scene that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// What a user calls it.
    pub name: &'static str,
    /// The TOML file, as it stands in assets/scenes.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin { name: $name, text: include_str!(concat!("../../assets/scenes/", $name, ".toml")) }),*]
    };
}

/// All of them, in the order in which they are listed.
pub const SCENES: &[Builtin] = scenes![
    "bar",
    "cube",
    "ball",
    "torus",
    "torus-stiffening",
    "t-pipe",
    "sheet",
    "ribbon",
    "cloth",
    "trampoline",
    "hair",
    "conserved-cube",
    "t-pipe-middle",
    "t-pipe-third",
    "squeezed",
    "bouncing-ball",
    "colliding-blocks",
    "strip",
    "trampoline-bounce",
    "hanging-cloth",
    "pendulum",
    "pushed-block",
    "box-stack",
    "box-pile",
    "penguin",
    "penguin-drag",
    "pig",
    "dummy",
    "bear",
    "hippo",
    "colliding-bears",
    "elephant",
    "koala",
    "thesis-trapezoid",
    "thesis-annulus",
    "pig-calm",
    "dragged",
    "membrane",
    "rope-bridge",
    "clay",
    "rods",
    "unloaded-beam",
    "bar-directions",
    "leaf",
    "elephant-trunk",
    "koala-belly",
    "koala-design",
    "belly-targets",
    "four-balls",
];

/// The text of the built-in scene of that name.
pub fn text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|scene| scene.name == name).map(|scene| scene.text)
}
