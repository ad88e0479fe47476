//! The state of the user interface: last published state, curves, camera, mouse.

use super::design::Design;
use super::history::{self, History};
use super::mouse::Drag;
use super::recording::Recording;
use super::report::WidgetRects;
use super::session::{Command, Session, SlotState, State};
use crate::gpu::context::Adapter;
use crate::scene::{LoadedScene, Scope};
use crate::view::{Area, Bounds, Camera, Look};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toml::Value;

/// How long a message stays in the status bar.
const MESSAGE: Duration = Duration::from_secs(8);

/// What the left mouse button does to a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Pulls.
    #[default]
    Grab,
    Push,
    Pin,
}

/// Which curves are plotted.
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

/// How to reposition the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// From the side that suits the scene.
    Fresh,
    /// From its current direction.
    SameDirection,
}

/// A line in the status bar.
#[derive(Debug, Clone)]
pub struct Message {
    pub text: String,
    /// Whether it is an error.
    pub wrong: bool,
    since: Instant,
}

/// The state of the user interface.
pub struct UiState {
    pub session: Session,
    pub state: Arc<State>,
    /// Ledger curves, one history per slot.
    pub history: Vec<History>,
    /// The scene of each slot as a value tree, with the scene it was made from.
    trees: Vec<(Arc<LoadedScene>, Value)>,
    /// The slot whose settings are shown.
    pub active: usize,
    pub camera: Camera,
    /// Whether and how to reframe the camera.
    pub framing: Option<Framing>,
    pub look: Look,
    pub contacts: bool,
    pub drag: Drag,
    /// Tool of the left button.
    pub tool: Tool,
    pub grabs: u64,
    /// Strength of the mouse spring.
    pub strength: f64,
    pub curves: Curves,
    /// Whether the help is open.
    pub help: bool,
    pub design: Design,
    /// The status bar.
    pub message: Option<Message>,
    /// Whether a screenshot was requested.
    pub screenshot: bool,
    /// The current recording and its format.
    pub recording: Recording,
    /// Output folder for pictures.
    pub pictures: PathBuf,
    pub adapter: Adapter,
    /// The area of the window where bodies are drawn (pixels).
    pub view_area: Area,
    /// Positions of widgets, for tests.
    pub widget_rects: WidgetRects,
    pub typed_scene: String,
    /// Recent rendering rate (1/s).
    pub frame_rate: f64,
    /// Last known ends of the colour map.
    pub range: Option<[f32; 2]>,
    /// Why a slot cannot be drawn, one entry per slot.
    pub draw_errors: Vec<Option<String>>,
    last_scene: String,
    last_slots: usize,
    /// Descriptions of the built-in scenes.
    pub descriptions: HashMap<&'static str, String>,
}

impl UiState {
    pub fn new(session: Session, adapter: Adapter, pictures: PathBuf) -> UiState {
        UiState {
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
            view_area: Area::whole(1, 1),
            widget_rects: WidgetRects::default(),
            typed_scene: String::new(),
            frame_rate: 0.0,
            range: None,
            draw_errors: Vec::new(),
            last_scene: String::new(),
            last_slots: 0,
            descriptions: descriptions(),
        }
    }

    /// Takes over the latest published state.
    pub fn poll_session(&mut self) {
        let (state, news) = self.session.look();
        self.state = state;
        history::follow(&mut self.history, &news);
        let slots = &self.state.slots;
        self.trees.truncate(slots.len());
        for (k, slot) in slots.iter().enumerate() {
            if self.trees.get(k).is_none_or(|(of, _)| !Arc::ptr_eq(of, &slot.loaded)) {
                let tree = Value::try_from(&slot.loaded.scene).unwrap_or(Value::Boolean(false));
                match self.trees.get_mut(k) {
                    Some(entry) => *entry = (slot.loaded.clone(), tree),
                    None => self.trees.push((slot.loaded.clone(), tree)),
                }
            }
        }
        self.active = self.active.min(slots.len().saturating_sub(1));
        let scene = slots.first().map(|slot| slot.spec.scene.clone()).unwrap_or_default();
        if scene != self.last_scene {
            (self.last_scene, self.framing) = (scene, Some(Framing::Fresh));
            self.design.forget();
        } else if slots.len() != self.last_slots {
            self.framing = self.framing.or(Some(Framing::SameDirection));
        }
        self.last_slots = slots.len();
        if !self.session.is_alive() && self.message.is_none() {
            self.show_error("the simulation thread has stopped; please restart the program");
        }
        if self.message.as_ref().is_some_and(|message| message.since.elapsed() > MESSAGE) {
            self.message = None;
        }
        self.update_grab();
        self.update_design();
    }

    /// Shows a message in the status bar.
    pub fn show_message(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), wrong: false, since: Instant::now() });
    }

    /// Shows an error in the status bar.
    pub fn show_error(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), wrong: true, since: Instant::now() });
    }

    pub fn send(&self, command: Command) {
        self.session.send(command);
    }

    /// The slot whose settings are shown.
    pub fn slot(&self) -> Option<&SlotState> {
        self.state.slots.get(self.active)
    }

    /// The value of a field of the active slot: the pending one, or that of the scene.
    pub fn value(&self, path: &str) -> Option<Value> {
        let slot = self.slot()?;
        let set = slot.spec.overrides.iter().rev().find_map(|given| {
            let (set, value) = given.split_once('=')?;
            (set == path).then(|| value.trim().to_string())
        });
        if let Some(text) = set {
            let read = text.parse::<Value>().ok();
            return Some(read.unwrap_or(Value::String(text)));
        }
        super::fields::get(&self.trees.get(self.active)?.1, path).cloned()
    }

    /// The slots that a setting applies to: base and designed damping share their settings.
    pub fn chosen(&self) -> Option<usize> {
        (!self.is_design()).then_some(self.active)
    }

    /// Sets a field of the active slot.
    pub fn set(&self, path: &str, value: impl Into<String>) {
        self.send(Command::Set { slot: self.chosen(), path: path.into(), value: value.into() });
    }

    /// Why the last change of a field of the active slot was refused.
    pub fn fault(&self, path: &str) -> Option<String> {
        let fault = self.slot()?.fault.as_ref()?;
        let field = fault.field.as_deref()?;
        let same = field == path || path.ends_with(field.rsplit('.').next()?) && field.starts_with("body");
        same.then(|| fault.message.clone())
    }

    /// The areas in which slots are drawn (pixels), followed by that of the example if shown.
    pub fn panes(&self) -> Vec<Area> {
        self.view_area.split(self.state.slots.len() + usize::from(self.is_design()))
    }

    /// Size of the rendered picture (pixels); fixed during a recording.
    pub fn picture_size(&self) -> [u32; 2] {
        self.recording.size().unwrap_or([self.view_area.width, self.view_area.height])
    }

    /// Frames the whole scene, including bodies that have left its initial bounds.
    pub fn frame_camera(&mut self, room: Bounds) {
        let positions = self.state.slots.iter().filter_map(|slot| slot.positions());
        let bounds = positions.fold(room, |all, positions| all.union(&Bounds::of(positions.iter())));
        let aspect = self.panes().first().map_or(1.0, Area::aspect);
        self.camera = match self.framing.take() {
            Some(Framing::SameDirection) => self.camera.reframed(&bounds, aspect),
            _ => Camera::framing(&bounds, aspect),
        };
    }

    /// Why a slot has stopped or cannot be drawn.
    pub fn failure(&self, slot: usize) -> Option<String> {
        let stopped = self.state.slots.get(slot)?.failure.as_ref();
        let stopped = stopped.map(|reason| format!("stopped. {reason}\nPress R to restart."));
        stopped.or_else(|| Some(format!("cannot be drawn. {}", self.draw_errors.get(slot)?.as_ref()?)))
    }

    /// What distinguishes a slot from the others, in a few words.
    pub fn title(&self, slot: usize) -> String {
        let Some(state) = self.state.slots.get(slot) else { return String::new() };
        if self.is_design() {
            return if state.spec.base {
                format!("base: {}", damping_title(state))
            } else {
                "designed".into()
            };
        }
        title(state, &self.state.slots)
    }
}

fn descriptions() -> HashMap<&'static str, String> {
    let of = |text: &str| {
        let table: Option<toml::Table> = text.parse().ok();
        table.and_then(|table| Some(table.get("description")?.as_str()?.to_string())).unwrap_or_default()
    };
    crate::scene::builtin::SCENES.iter().map(|scene| (scene.name, of(scene.text))).collect()
}

/// The damping of a slot in a few words.
pub fn damping_title(slot: &SlotState) -> String {
    let damping = &slot.loaded.scene.damping;
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

/// A prefix, and the property that may differ.
type Difference<'a> = (&'a str, &'a dyn Fn(&SlotState) -> String);

/// What distinguishes a slot from the others.
fn title(slot: &SlotState, all: &[SlotState]) -> String {
    if all.len() < 2 {
        return damping_title(slot);
    }
    let differs = |of: &dyn Fn(&SlotState) -> String| all.iter().any(|other| of(other) != of(&all[0]));
    let mut parts = Vec::new();
    let tellers: [Difference<'_>; 8] = [
        ("", &|slot| if slot.spec.base { "base".into() } else { "designed".into() }),
        ("", &damping_title),
        ("", &|slot| slot.loaded.scene.integrator.kind.clone()),
        ("", &|slot| format!("{:?}", slot.loaded.scene.conservation.method).to_lowercase()),
        ("iterations ", &|slot| slot.loaded.scene.time.iterations.to_string()),
        ("frame ", &|slot| format!("{} s", super::theme::number(slot.loaded.scene.time.step))),
        ("", &|slot| slot.describe.split([',', ' ']).next().unwrap_or_default().to_string()),
        ("γ ", &|slot| super::theme::number(slot.loaded.scene.conservation.gamma)),
    ];
    for (prefix, teller) in tellers {
        if differs(teller) {
            parts.push(format!("{prefix}{}", teller(slot)));
        }
    }
    if parts.is_empty() { damping_title(slot) } else { parts.join(" · ") }
}
