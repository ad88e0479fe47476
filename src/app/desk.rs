//! What the window knows: the last state, the curves, the camera, what the mouse is doing.

use super::design::Design;
use super::hand::Drag;
use super::history::{self, History};
use super::recording::Recording;
use super::report::Spots;
use super::session::{Command, LaneState, Session, State};
use crate::gpu::context::Adapter;
use crate::scene::{LoadedScene, Scope};
use crate::view::{Area, Bounds, Camera, Look};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toml::Value;

/// How long a message stands in the status bar.
const MESSAGE: Duration = Duration::from_secs(8);

/// What the left mouse button does to a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Pulls.
    #[default]
    Grab,
    /// Gives a blow.
    Push,
    /// Holds it in place, or releases it.
    Pin,
}

/// Which curves are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Curves {
    /// Energies.
    #[default]
    Energy,
    /// |P|.
    Momentum,
    /// |L|.
    Spin,
    /// Centre of mass.
    Centre,
}

/// How to put the camera where it sees everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// From the side that suits the scene.
    Fresh,
    /// From where it looks now.
    SameDirection,
}

/// A line in the status bar.
#[derive(Debug, Clone)]
pub struct Message {
    /// What it says.
    pub text: String,
    /// Whether something went wrong.
    pub wrong: bool,
    since: Instant,
}

/// All of it.
pub struct Desk {
    /// The simulations.
    pub session: Session,
    /// What was published last.
    pub state: Arc<State>,
    /// Curves, one a lane.
    pub history: Vec<History>,
    /// The scene of each lane as a tree of values, and what it is of.
    trees: Vec<(Arc<LoadedScene>, Value)>,
    /// The lane whose settings are shown.
    pub active: usize,
    /// Where the eye is.
    pub camera: Camera,
    /// Whether the camera shall be put where it sees everything.
    pub framing: Option<Framing>,
    /// How bodies are drawn.
    pub look: Look,
    /// Whether contacts are marked.
    pub contacts: bool,
    /// What the mouse is doing.
    pub drag: Drag,
    /// What its left button does.
    pub tool: Tool,
    /// Grabs asked for so far.
    pub grabs: u64,
    /// How strongly the hand pulls.
    pub strength: f64,
    /// Which curves are shown.
    pub curves: Curves,
    /// Whether the help is open.
    pub help: bool,
    /// Damping by example.
    pub design: Design,
    /// The status bar.
    pub message: Option<Message>,
    /// Whether a picture is asked for.
    pub screenshot: bool,
    /// The recording under way, and what it shall become.
    pub recording: Recording,
    /// Where pictures go.
    pub pictures: PathBuf,
    /// What draws.
    pub adapter: Adapter,
    /// The part of the window where bodies are drawn (pixels), and its panes.
    pub stage: Area,
    /// Where things are, for tests.
    pub spots: Spots,
    /// The path of a scene file that is being typed.
    pub typed_scene: String,
    /// Pictures drawn a second, lately.
    pub frame_rate: f64,
    /// The ends of the colour map, when last told.
    pub range: Option<[f32; 2]>,
    /// Why a lane cannot be drawn, one a lane.
    pub undrawn: Vec<Option<String>>,
    last_scene: String,
    last_lanes: usize,
    /// Descriptions of the built-in scenes.
    pub descriptions: HashMap<&'static str, String>,
}

impl Desk {
    /// Before anything was published.
    pub fn new(session: Session, adapter: Adapter, pictures: PathBuf) -> Desk {
        Desk {
            state: session.state(),
            session,
            history: Vec::new(),
            trees: Vec::new(),
            active: 0,
            camera: Camera::default(),
            framing: Some(Framing::Fresh),
            look: Look::default(),
            contacts: false,
            drag: Drag::None,
            tool: Tool::default(),
            grabs: 0,
            strength: 1.0,
            curves: Curves::default(),
            help: false,
            design: Design::new(),
            message: None,
            screenshot: false,
            recording: Recording::default(),
            pictures,
            adapter,
            stage: Area::whole(1, 1),
            spots: Spots::default(),
            typed_scene: String::new(),
            frame_rate: 0.0,
            range: None,
            undrawn: Vec::new(),
            last_scene: String::new(),
            last_lanes: 0,
            descriptions: descriptions(),
        }
    }

    /// Takes over what was published since.
    pub fn look_at_session(&mut self) {
        let (state, news) = self.session.look();
        self.state = state;
        history::follow(&mut self.history, &news);
        let lanes = &self.state.lanes;
        self.trees.truncate(lanes.len());
        for (k, lane) in lanes.iter().enumerate() {
            if self.trees.get(k).is_none_or(|(of, _)| !Arc::ptr_eq(of, &lane.loaded)) {
                let tree = Value::try_from(&lane.loaded.scene).unwrap_or(Value::Boolean(false));
                match self.trees.get_mut(k) {
                    Some(entry) => *entry = (lane.loaded.clone(), tree),
                    None => self.trees.push((lane.loaded.clone(), tree)),
                }
            }
        }
        self.active = self.active.min(lanes.len().saturating_sub(1));
        let scene = lanes.first().map(|lane| lane.spec.scene.clone()).unwrap_or_default();
        if scene != self.last_scene {
            (self.last_scene, self.framing) = (scene, Some(Framing::Fresh));
            self.design.forget();
        } else if lanes.len() != self.last_lanes {
            self.framing = self.framing.or(Some(Framing::SameDirection));
        }
        self.last_lanes = lanes.len();
        if !self.session.is_alive() && self.message.is_none() {
            self.complain("the simulation thread has stopped; please restart the program");
        }
        if self.message.as_ref().is_some_and(|message| message.since.elapsed() > MESSAGE) {
            self.message = None;
        }
        self.follow_hand();
        self.follow_design();
    }

    /// Says something in the status bar.
    pub fn say(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), wrong: false, since: Instant::now() });
    }

    /// Says that something went wrong.
    pub fn complain(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), wrong: true, since: Instant::now() });
    }

    /// Asks the session for something.
    pub fn send(&self, command: Command) {
        self.session.send(command);
    }

    /// The lane whose settings are shown.
    pub fn lane(&self) -> Option<&LaneState> {
        self.state.lanes.get(self.active)
    }

    /// The value of a field of the active lane as it will be: set and not built yet, or of the scene.
    pub fn value(&self, path: &str) -> Option<Value> {
        let lane = self.lane()?;
        let set = lane.spec.overrides.iter().rev().find_map(|given| {
            let (set, value) = given.split_once('=')?;
            (set == path).then(|| value.trim().to_string())
        });
        if let Some(text) = set {
            let read = text.parse::<Value>().ok();
            return Some(read.unwrap_or(Value::String(text)));
        }
        super::fields::get(&self.trees.get(self.active)?.1, path).cloned()
    }

    /// The lanes that settings are changed of: a body under designed damping and its twin have the same.
    pub fn chosen(&self) -> Option<usize> {
        (!self.is_design()).then_some(self.active)
    }

    /// Sets a field of the active lane.
    pub fn set(&self, path: &str, value: impl Into<String>) {
        self.send(Command::Set { lane: self.chosen(), path: path.into(), value: value.into() });
    }

    /// What was refused of a field of the active lane.
    pub fn fault(&self, path: &str) -> Option<String> {
        let fault = self.lane()?.fault.as_ref()?;
        let field = fault.field.as_deref()?;
        let same = field == path || path.ends_with(field.rsplit('.').next()?) && field.starts_with("body");
        same.then(|| fault.message.clone())
    }

    /// The parts of the window in which lanes are drawn (pixels), and last the example if that is shown.
    pub fn panes(&self) -> Vec<Area> {
        self.stage.split(self.state.lanes.len() + usize::from(self.is_design()))
    }

    /// Size of the picture of the bodies (pixels); as it was at the start of a recording while that goes on.
    pub fn picture_size(&self) -> [u32; 2] {
        self.recording.size().unwrap_or([self.stage.width, self.stage.height])
    }

    /// Puts the camera where it sees all of the scene, also what has left the room that it was given.
    pub fn frame(&mut self, room: Bounds) {
        let positions = self.state.lanes.iter().filter_map(|lane| lane.positions());
        let bounds = positions.fold(room, |all, positions| all.union(&Bounds::of(positions.iter())));
        let aspect = self.panes().first().map_or(1.0, Area::aspect);
        self.camera = match self.framing.take() {
            Some(Framing::SameDirection) => self.camera.reframed(&bounds, aspect),
            _ => Camera::framing(&bounds, aspect),
        };
    }

    /// What is wrong with a lane: why it cannot go on, or cannot be drawn.
    pub fn failure(&self, lane: usize) -> Option<String> {
        let stopped = self.state.lanes.get(lane)?.failure.as_ref();
        let stopped = stopped.map(|reason| format!("stopped. {reason}\nPress R to restart."));
        stopped.or_else(|| Some(format!("cannot be drawn. {}", self.undrawn.get(lane)?.as_ref()?)))
    }

    /// How a lane differs from the others, in a few words.
    pub fn title(&self, lane: usize) -> String {
        let Some(state) = self.state.lanes.get(lane) else { return String::new() };
        if self.is_design() {
            return if state.spec.base {
                format!("base: {}", damping_title(state))
            } else {
                "designed".into()
            };
        }
        title(state, &self.state.lanes)
    }
}

fn descriptions() -> HashMap<&'static str, String> {
    let of = |text: &str| {
        let table: Option<toml::Table> = text.parse().ok();
        table.and_then(|table| Some(table.get("description")?.as_str()?.to_string())).unwrap_or_default()
    };
    crate::scene::builtin::SCENES.iter().map(|scene| (scene.name, of(scene.text))).collect()
}

/// The damping of a lane in a few words.
pub fn damping_title(lane: &LaneState) -> String {
    let damping = &lane.loaded.scene.damping;
    let number = super::theme::number;
    match damping.model.as_str() {
        "laplacian" if damping.mass == 0.0 => format!("laplacian {} s", number(damping.stiffness)),
        "laplacian" => format!("laplacian {} s, {} /s", number(damping.stiffness), number(damping.mass)),
        "rayleigh" | "rayleigh-tangent" => format!("{} {} s", damping.model, number(damping.stiffness)),
        "variational" => format!("variational {} s", number(damping.eta)),
        "none" => "no damping".into(),
        "ether-drag" | "pbd" => format!("{} {}", damping.model, number(damping.coefficient)),
        "point" | "spring" => format!("{} {}", damping.model, number(damping.gamma)),
        "spring-iterated" => format!("{} sweeps of spring {}", damping.sweeps, number(damping.gamma)),
        "direct" => {
            let scope = match damping.scope {
                Scope::Global => "global",
                Scope::Local => "local",
                Scope::Both => "global, local",
            };
            format!("direct {}, {scope}", number(damping.gamma))
        }
        other => other.into(),
    }
}

/// Words before a difference, and the difference.
type Teller<'a> = (&'a str, &'a dyn Fn(&LaneState) -> String);

/// How a lane differs from the others.
fn title(lane: &LaneState, all: &[LaneState]) -> String {
    if all.len() < 2 {
        return damping_title(lane);
    }
    let differs = |of: &dyn Fn(&LaneState) -> String| all.iter().any(|other| of(other) != of(&all[0]));
    let mut parts = Vec::new();
    let tellers: [Teller<'_>; 8] = [
        ("", &|lane| if lane.spec.base { "base".into() } else { "designed".into() }),
        ("", &damping_title),
        ("", &|lane| lane.loaded.scene.integrator.kind.clone()),
        ("", &|lane| format!("{:?}", lane.loaded.scene.conservation.method).to_lowercase()),
        ("iterations ", &|lane| lane.loaded.scene.time.iterations.to_string()),
        ("frame ", &|lane| format!("{} s", super::theme::number(lane.loaded.scene.time.step))),
        ("", &|lane| lane.describe.split([',', ' ']).next().unwrap_or_default().to_string()),
        ("γ ", &|lane| super::theme::number(lane.loaded.scene.conservation.gamma)),
    ];
    for (prefix, teller) in tellers {
        if differs(teller) {
            parts.push(format!("{prefix}{}", teller(lane)));
        }
    }
    if parts.is_empty() { damping_title(lane) } else { parts.join(" · ") }
}
