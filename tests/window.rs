//! The real window, driven from outside: a display in memory, a mouse and a keyboard that nobody holds.
//!
//! Needs Xvfb and an adapter (one in software will do), and fails without them. `./x test` installs both.
//! `DASHPOT_WINDOW_SHOTS=DIR` keeps the pictures that are taken on the way.

// A program of its own: hands move in real time here, and no other test should take the cores meanwhile.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat, InputFocus, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// Far longer than anything here takes: drawing in software on a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(180);

const BUTTON_PRESS: u8 = 4;
const BUTTON_RELEASE: u8 = 5;
const MOTION: u8 = 6;
const KEY_PRESS: u8 = 2;
const KEY_RELEASE: u8 = 3;

/// A display in memory; ends with the test.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn start() -> Display {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is not installed; on Debian and Ubuntu: apt install xvfb (./x test does it)");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb did not start");
        Display { server, name: format!(":{}", number.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A picture of the screen.
struct Shot {
    width: usize,
    bytes: Vec<u8>,
}

impl Shot {
    fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 4 * (y * self.width + x);
        [self.bytes[at + 2], self.bytes[at + 1], self.bytes[at]]
    }

    /// Different colours in a rectangle: x, y, width, height.
    fn colours(&self, [x, y, w, h]: [usize; 4]) -> usize {
        let all: HashSet<[u8; 3]> =
            (y..y + h).flat_map(|y| (x..x + w).map(move |x| (x, y))).map(|(x, y)| self.pixel(x, y)).collect();
        all.len()
    }

    /// Pixels in a rectangle that differ clearly from those of another picture.
    fn differing(&self, other: &Shot, [x, y, w, h]: [usize; 4]) -> usize {
        let differ = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > 24);
        (y..y + h)
            .flat_map(|y| (x..x + w).map(move |x| (x, y)))
            .filter(|&(x, y)| differ(self.pixel(x, y), other.pixel(x, y)))
            .count()
    }

    /// For the eyes of who looks into the folder.
    fn save(&self, path: &Path) {
        let rgb: Vec<u8> = self.bytes.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0]]).collect();
        let file = std::fs::File::create(path).unwrap();
        let mut encoder =
            png::Encoder::new(file, self.width as u32, (self.bytes.len() / 4 / self.width) as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&rgb).unwrap();
    }
}

/// The program under a display, and hands to drive it with.
struct Driven {
    program: Child,
    x: RustConnection,
    root: Window,
    window: Window,
    folder: PathBuf,
    _display: Display,
}

impl Driven {
    fn open(arguments: &[&str], folder: &Path) -> Driven {
        let display = Display::start();
        let program = Command::new(env!("CARGO_BIN_EXE_dashpot"))
            .arg("demo")
            .args(arguments)
            .args(["--backend", "cpu", "--report-state"])
            .arg(folder.join("state.json"))
            .arg("--pictures")
            .arg(folder.join("pictures"))
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            .spawn()
            .unwrap();
        let (x, screen) = RustConnection::connect(Some(&display.name)).unwrap();
        let root = x.setup().roots[screen].root;
        let mut driven = Driven { program, x, root, window: 0, folder: folder.into(), _display: display };
        driven.wait("a scene in motion", |state| state["lanes"][0]["frame"].as_u64() > Some(2));
        driven.window = driven.find_window();
        // there is no window manager that would give it the keyboard
        driven
            .x
            .set_input_focus(InputFocus::PARENT, driven.window, x11rb::CURRENT_TIME)
            .unwrap()
            .check()
            .unwrap();
        driven
    }

    /// The largest window: toolkits make small ones for themselves.
    fn find_window(&self) -> Window {
        let children = self.x.query_tree(self.root).unwrap().reply().unwrap().children;
        let size = |&window: &Window| {
            let geometry = self.x.get_geometry(window).unwrap().reply().unwrap();
            u64::from(geometry.width) * u64::from(geometry.height)
        };
        children.into_iter().max_by_key(size).expect("a window")
    }

    fn state(&self) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.folder.join("state.json")).ok()?).ok()
    }

    fn wait(&mut self, what: &str, enough: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            if let Some(state) = self.state().filter(|state| enough(state)) {
                return state;
            }
            if let Some(status) = self.program.try_wait().unwrap() {
                panic!("waited for {what}, but the program ended: {status}");
            }
            assert!(start.elapsed() < PATIENCE, "waited for {what}; the last state: {:?}", self.state());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn fake(&self, kind: u8, detail: u8, [x, y]: [i16; 2]) {
        self.x.xtest_fake_input(kind, detail, 0, self.root, x, y, 0).unwrap().check().unwrap();
        self.x.flush().unwrap();
    }

    fn point_at(&self, [x, y]: [f64; 2]) {
        self.fake(MOTION, 0, [x.round() as i16, y.round() as i16]);
    }

    fn click(&self, at: [f64; 2]) {
        self.point_at(at);
        // a picture in between, so that the panels see the pointer before the press
        std::thread::sleep(Duration::from_millis(250));
        self.fake(BUTTON_PRESS, 1, [0, 0]);
        std::thread::sleep(Duration::from_millis(150));
        self.fake(BUTTON_RELEASE, 1, [0, 0]);
        std::thread::sleep(Duration::from_millis(150));
    }

    /// Clicks the middle of something that the program has noted the place of.
    fn click_on(&mut self, spot: &str) {
        let state = self.wait(spot, |state| state["spots"][spot].is_array());
        let [x0, y0, x1, y1] = [0, 1, 2, 3].map(|k| state["spots"][spot][k].as_f64().unwrap());
        self.click([(x0 + x1) / 2.0, (y0 + y1) / 2.0]);
    }

    /// Types a key, by its keysym.
    fn key(&self, keysym: u32) {
        let setup = self.x.setup();
        let count = setup.max_keycode - setup.min_keycode + 1;
        let mapping = self.x.get_keyboard_mapping(setup.min_keycode, count).unwrap().reply().unwrap();
        let per = usize::from(mapping.keysyms_per_keycode);
        let index = mapping.keysyms.chunks(per).position(|keysyms| keysyms[0] == keysym).expect("a key");
        let code = setup.min_keycode + index as u8;
        self.fake(KEY_PRESS, code, [0, 0]);
        std::thread::sleep(Duration::from_millis(60));
        self.fake(KEY_RELEASE, code, [0, 0]);
    }

    fn shot(&self, name: &str) -> Shot {
        let geometry = self.x.get_geometry(self.root).unwrap().reply().unwrap();
        let (width, height) = (geometry.width, geometry.height);
        let image = self
            .x
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, !0)
            .unwrap()
            .reply()
            .unwrap();
        let shot = Shot { width: usize::from(width), bytes: image.data };
        shot.save(&self.folder.join(format!("{name}.png")));
        shot
    }

    fn close(mut self) -> ExitStatus {
        let atom = |name: &str| self.x.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
        let data = [atom("WM_DELETE_WINDOW"), x11rb::CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, self.window, atom("WM_PROTOCOLS"), data);
        self.x.send_event(false, self.window, EventMask::NO_EVENT, message).unwrap().check().unwrap();
        let start = Instant::now();
        loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the window does not close");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn area(value: &Value) -> [usize; 4] {
    [0, 1, 2, 3].map(|k| value[k].as_u64().unwrap() as usize)
}

fn point(value: &Value) -> [f64; 2] {
    [0, 1].map(|k| value[k].as_f64().unwrap())
}

/// A folder for the pictures of a test: in that of the environment, so that they can be looked at, or one that goes away.
fn folder(test: &str) -> (PathBuf, Option<tempfile::TempDir>) {
    match std::env::var_os("DASHPOT_WINDOW_SHOTS") {
        Some(kept) => {
            let kept = Path::new(&kept).join(test);
            std::fs::create_dir_all(&kept).unwrap();
            // what an earlier window told
            let _ = std::fs::remove_file(kept.join("state.json"));
            (kept, None)
        }
        None => {
            let folder = tempfile::tempdir().unwrap();
            (folder.path().into(), Some(folder))
        }
    }
}

#[test]
fn a_visitor_pulls_a_body_changes_the_damping_compares_records_and_leaves() {
    let (folder, _guard) = folder("models");
    let arguments = [
        "bar",
        "--size",
        "1000x640",
        "--set",
        "damping.model=ether-drag",
        "--set",
        "damping.coefficient=0.1",
    ];
    let mut driven = Driven::open(&arguments, &folder);

    // the scene is drawn
    let state = driven.wait("a picture", |state| state["lanes"][0]["centre"].is_array());
    let before = driven.shot("1-opened");
    let stage = area(&state["stage"]);
    assert!(stage[2] > 300 && stage[3] > 300, "{stage:?}");
    // the body is orange, shaded by its normals; around it are ground, shadow and sky
    let [x, y] = point(&state["lanes"][0]["centre"]).map(|c| c as usize);
    let [r, g, b] = before.pixel(x, y);
    assert!(r > g.saturating_add(40) && g > b.saturating_add(20), "{:?} where the body is", [r, g, b]);
    assert!(before.colours(stage) > 200, "{} colours", before.colours(stage));
    assert!(before.colours([0, 0, stage[0], stage[1] + stage[3]]) > 30, "the panel on the left is empty");

    // a drag on the body moves it, once it has sunk, and the ledger counts the work
    driven.wait("the body to sink", |state| state["lanes"][0]["frame"].as_u64() > Some(45));
    let work = |state: &Value| state["lanes"][0]["work"].as_f64().unwrap();
    assert_eq!(work(&state), 0.0);
    let at = point(&driven.state().unwrap()["lanes"][0]["centre"]);
    driven.point_at(at);
    std::thread::sleep(Duration::from_millis(200));
    driven.fake(BUTTON_PRESS, 1, [0, 0]);
    driven.wait("the hand to hold the body", |state| state["held"] == true);
    for k in 1..=8 {
        driven.point_at([at[0] + 4.0 * f64::from(k), at[1] - 12.0 * f64::from(k)]);
        std::thread::sleep(Duration::from_millis(60));
    }
    let pulled = driven.wait("work of the hand", |state| work(state) > 1.0);
    let lifted = driven.wait("the body to follow", |state| {
        state["lanes"][0]["centre"].is_array() && point(&state["lanes"][0]["centre"])[1] < at[1] - 10.0
    });
    let moved = driven.shot("2-pulled");
    assert!(moved.differing(&before, stage) > 1000, "{} pixels", moved.differing(&before, stage));
    assert!(
        lifted["lanes"][0]["frame"].as_u64() > pulled["lanes"][0]["frame"].as_u64() || work(&lifted) > 1.0
    );
    driven.fake(BUTTON_RELEASE, 1, [0, 0]);
    driven.wait("release", |state| state["held"] == false);

    // a big button changes the damping model, and time goes on
    driven.click_on("damping:pbd");
    let state = driven.wait("PBD damping", |state| state["lanes"][0]["damping"]["model"] == "pbd");
    assert!(state["lanes"][0]["frame"].as_u64() > Some(2), "the motion goes on: {state}");
    driven.shot("3-pbd");

    // keys: colours, wireframe, pause
    driven.point_at([stage[0] as f64 + 20.0, stage[1] as f64 + stage[3] as f64 - 60.0]);
    driven.key(u32::from(b'2'));
    driven.wait("colours of strain", |state| state["colour"] == "strain");
    driven.key(u32::from(b'w'));
    driven.wait("wireframe", |state| state["wireframe"] == true);
    driven.shot("4-strain");
    driven.key(u32::from(b' '));
    let paused = driven.wait("pause", |state| state["paused"] == true);
    driven.key(u32::from(b'.'));
    let frame = |state: &Value| state["lanes"][0]["frame"].as_u64().unwrap();
    driven.wait("one frame", |state| frame(state) == frame(&paused) + 1);
    driven.key(u32::from(b'r'));
    driven.wait("the start", |state| frame(state) == 0);
    driven.key(u32::from(b' '));
    driven.key(u32::from(b'1'));
    driven.key(u32::from(b'w'));
    driven.wait("plain colours", |state| state["colour"] == "body" && state["wireframe"] == false);

    // side by side: two pictures, both with a body
    driven.click_on("compare:None | Laplacian");
    let state = driven.wait("two lanes", |state| {
        state["lanes"].as_array().is_some_and(|lanes| lanes.len() == 2 && frame(state) > 5)
    });
    assert_eq!(
        (&state["lanes"][0]["damping"]["model"], &state["lanes"][1]["damping"]["model"]),
        (&"none".into(), &"laplacian".into())
    );
    let both = driven.shot("5-compared");
    for pane in state["panes"].as_array().unwrap() {
        let pane = area(pane);
        let middle = [pane[0] + 2, pane[1] + pane[3] / 4, pane[2] - 4, pane[3] / 2];
        assert!(both.colours(middle) > 60, "{} colours in {pane:?}", both.colours(middle));
    }

    // a recording is a film of several pictures
    driven.click_on("record");
    driven.wait("recording", |state| state["recording"] == true);
    std::thread::sleep(Duration::from_secs(2));
    driven.click_on("record");
    let state = driven.wait("the recording's name", |state| {
        state["message"]
            .as_str()
            .is_some_and(|message| message.starts_with("written: ") && message.ends_with(".gif"))
    });
    let path = state["message"].as_str().unwrap().trim_start_matches("written: ").to_string();
    let mut film = gif::DecodeOptions::new().read_info(std::fs::File::open(&path).unwrap()).unwrap();
    let mut pictures = 0;
    while film.read_next_frame().unwrap().is_some() {
        pictures += 1;
    }
    assert!(pictures >= 3 && film.width() > 200, "{pictures} pictures, {} wide", film.width());

    // a picture of the window
    driven.point_at([stage[0] as f64 + 20.0, stage[1] as f64 + stage[3] as f64 - 60.0]);
    driven.key(u32::from(b's'));
    let state = driven.wait("a picture's name", |state| {
        state["message"]
            .as_str()
            .is_some_and(|message| message.starts_with("written: ") && message.ends_with(".png"))
    });
    let path = state["message"].as_str().unwrap().trim_start_matches("written: ").to_string();
    let reader = png::Decoder::new(BufReader::new(std::fs::File::open(&path).unwrap())).read_info().unwrap();
    assert_eq!(
        [u64::from(reader.info().width), u64::from(reader.info().height)],
        [0, 1].map(|k| state["window"][k].as_u64().unwrap())
    );

    // another size
    let larger = ConfigureWindowAux::new().width(1180).height(720);
    driven.x.configure_window(driven.window, &larger).unwrap().check().unwrap();
    let state =
        driven.wait("the larger window", |state| state["window"][0] == 1180 && state["window"][1] == 720);
    let stage = area(&driven.wait("a larger stage", |state| area(&state["stage"])[2] > stage[2])["stage"]);
    std::thread::sleep(Duration::from_millis(500));
    let resized = driven.shot("6-resized");
    assert!(resized.colours(stage) > 60 && resized.colours([1140, 30, 38, 600]) > 2, "{:?}", state["window"]);

    let status = driven.close();
    assert_eq!(status.code(), Some(0));
}

/// A second window: damping by example.
#[test]
fn a_visitor_edits_the_curve_of_an_example_and_sees_it_next_to_base_damping() {
    let (folder, _guard) = folder("examples");
    let arguments = [
        "bar",
        "--size",
        "1180x760",
        "--set",
        "gravity=[0.0, 0.0, 0.0]",
        "--set",
        "body.0.mesh.cells=[8, 2, 2]",
        "--set",
        "damping.model=laplacian",
        "--set",
        "damping.stiffness=0.001",
    ];
    let mut driven = Driven::open(&arguments, &folder);
    let lane = |state: &Value| state["lanes"].as_array().unwrap().last().unwrap().clone();
    let example = move |state: &Value| lane(state)["damping"]["example"][0].clone();

    // an example is added: the slowest vibration of the bar
    driven.click_on("page:examples");
    driven.click_on("add:mode");
    driven.wait("an example", |state| {
        example(state)["shape"]["mode"] == 1 && lane(state)["excitations"].as_array().unwrap().len() == 1
    });

    // base damping, designed damping and the shape side by side
    driven.click_on("design:views");
    let state = driven.wait("three views", |state| {
        state["lanes"].as_array().unwrap().len() == 2 && state["panes"].as_array().unwrap().len() == 3
    });
    assert_eq!((&state["lanes"][0]["base"], &state["lanes"][1]["base"]), (&true.into(), &false.into()));

    // a curve, and a point of it dragged upwards
    driven.click_on("design:curve");
    driven
        .wait("a curve", |state| example(state)["curve"]["points"].as_array().is_some_and(|p| p.len() == 2));
    let state = driven.wait("its points", |state| state["spots"]["design:point:0"].is_array());
    let at = point(&state["spots"]["design:point:0"]);
    driven.point_at(at);
    std::thread::sleep(Duration::from_millis(300));
    driven.fake(BUTTON_PRESS, 1, [0, 0]);
    std::thread::sleep(Duration::from_millis(300));
    for k in 1..=6 {
        driven.point_at([at[0], at[1] - 8.0 * f64::from(k)]);
        std::thread::sleep(Duration::from_millis(80));
    }
    let log = move |state: &Value| example(state)["curve"]["points"][0][1].as_f64().unwrap_or(0.0);
    // 48 points of about 140 that are six powers of ten
    driven.wait("γ", |state| log(state) > 1.0);
    driven.fake(BUTTON_RELEASE, 1, [0, 0]);
    let state = driven.wait("the drag to end", |state| log(state) > 1.5);
    assert_eq!(state["lanes"][0]["damping"]["example"][0]["gamma"], 1.0);
    assert!(state["lanes"][0]["damping"]["example"][0]["curve"].is_null(), "the twin has base damping");
    // keys: another point, and less of one
    driven.key(0xff63);
    driven.wait("a point more", |state| example(state)["curve"]["points"].as_array().unwrap().len() == 3);
    driven.key(0xffff);
    driven.wait("a point less", |state| example(state)["curve"]["points"].as_array().unwrap().len() == 2);

    // let go from the shape: it moves otherwise as designed
    driven.click_on("pause");
    driven.wait("pause", |state| state["paused"] == true);
    driven.click_on("design:release");
    let chi = |state: &Value, k: usize| state["lanes"][k]["excitations"][0].as_f64().unwrap();
    let gamma = |state: &Value, k: usize| state["lanes"][k]["gammas"][0].as_f64().unwrap();
    let alike = |state: &Value, k: usize| (chi(state, k) - 1.0).abs() < 1e-5;
    driven.wait("the shape", |state| alike(state, 0) && alike(state, 1));
    for frame in 1..=9 {
        driven.click_on("step");
        driven.wait("a frame", |state| lane(state)["frame"] == frame);
    }
    let state = driven.state().unwrap();
    assert!(chi(&state, 1) > chi(&state, 0) + 0.01, "what is damped more is slower: {state}");
    assert!(gamma(&state, 0) == 1.0 && gamma(&state, 1) > 2.0, "{state}");
    let shot = driven.shot("7-designed");
    for pane in state["panes"].as_array().unwrap() {
        let pane = area(pane);
        let middle = [pane[0] + 2, pane[1] + pane[3] / 4, pane[2] - 4, pane[3] / 2];
        assert!(shot.colours(middle) > 60, "{} colours in {pane:?}", shot.colours(middle));
    }

    // the pose of now is another example, in a file
    driven.click_on("add:pose");
    let state =
        driven.wait("the pose", |state| lane(state)["damping"]["example"][1]["shape"]["file"].is_string());
    let file = lane(&state)["damping"]["example"][1]["shape"]["file"].as_str().unwrap().to_string();
    assert!(Path::new(&file).is_file(), "{file}");
    driven.click_on("design:undo");
    driven.wait("it to be undone", |state| lane(state)["damping"]["example"].as_array().unwrap().len() == 1);
    assert_eq!(driven.close().code(), Some(0));
}

#[test]
fn without_a_display_it_says_so_and_runs_headless() {
    let output = Command::new(env!("CARGO_BIN_EXE_dashpot"))
        .args(["demo", "bar", "--set", "time.frames=3", "--backend", "cpu"])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    let (told, said) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(told.contains("No window: no display found") && told.contains("dashpot run bar"), "{told}");
    assert!(said.contains("where it went"), "{said}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_cannot_be_read_is_told_before_a_window_opens() {
    let output = Command::new(env!("CARGO_BIN_EXE_dashpot"))
        .args(["bar", "--set", "damping.stiffness=-1"])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("damping.stiffness"));
}
