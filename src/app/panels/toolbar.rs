//! The toolbar: scene, playback, mouse tool, colours, pictures.

use crate::app::desk::{Desk, Tool};
use crate::app::recording::FORMATS;
use crate::app::session::Command;
use crate::app::session::pace::{SPEEDS, Speed};
use crate::app::session::spec::Spec;
use crate::app::theme;
use crate::scene::builtin::SCENES;
use crate::view::Colour;
use egui::{Button, ComboBox, RichText, Ui};

/// The bar.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        scenes(ui, desk);
        ui.separator();
        transport(ui, desk);
        ui.separator();
        tools(ui, desk);
        ui.separator();
        looks(ui, desk);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| pictures(ui, desk));
    });
}

fn scenes(ui: &mut Ui, desk: &mut Desk) {
    let now = desk.state.lanes.first().map_or("…".to_string(), |lane| lane.loaded.name.clone());
    let mut chosen = None;
    let menu = ComboBox::from_id_salt("scene").width(140.0).height(520.0);
    let menu = menu.selected_text(RichText::new(&now).strong()).show_ui(ui, |ui| {
        ui.set_min_width(560.0);
        for scene in SCENES {
            let line = format!("{:<18}", scene.name);
            let mut text = egui::text::LayoutJob::default();
            let font = egui::FontId::proportional(13.5);
            let plain = |color| egui::TextFormat { font_id: font.clone(), color, ..Default::default() };
            text.append(line.trim_end(), 0.0, plain(theme::TEXT));
            text.append(&desk.descriptions[scene.name], 12.0, plain(theme::QUIET));
            text.wrap.max_rows = 1;
            let entry = ui.selectable_label(scene.name == now, text);
            desk.spots.note(format!("scene:{}", scene.name), entry.rect);
            if entry.clicked() {
                chosen = Some(scene.name.to_string());
            }
        }
        ui.separator();
        ui.horizontal(|ui| {
            ui.label("from a file:");
            let typed = ui.add(
                egui::TextEdit::singleline(&mut desk.typed_scene)
                    .hint_text("path/to/scene.toml")
                    .desired_width(360.0),
            );
            let entered = typed.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if (ui.button("open").clicked() || entered) && !desk.typed_scene.trim().is_empty() {
                chosen = Some(desk.typed_scene.trim().to_string());
            }
        });
    });
    desk.spots.note("scenes", menu.response.rect);
    menu.response.on_hover_text("Choose a scene");
    if let Some(scene) = chosen {
        let backend = desk.lane().map(|lane| lane.spec.backend).unwrap_or_default();
        desk.send(Command::Open(vec![Spec { backend, ..Spec::of(&scene) }]));
    }
}

fn transport(ui: &mut Ui, desk: &mut Desk) {
    let paused = desk.state.paused;
    let text = if paused { "play" } else { "pause" };
    let button = ui.add(Button::new(text).min_size(egui::vec2(64.0, 0.0)));
    desk.spots.note("pause", button.rect);
    if button.on_hover_text("Play or pause (space)").clicked() {
        desk.send(Command::Pause(!paused));
    }
    let step = ui.button("step");
    desk.spots.note("step", step.rect);
    if step.on_hover_text("Advance one frame (. or →)").clicked() {
        desk.send(Command::Step);
    }
    let reset = ui.button("reset");
    desk.spots.note("reset", reset.rect);
    if reset.on_hover_text("Restart (R)").clicked() {
        desk.send(Command::Reset);
    }
    let name = |speed: Speed| match speed {
        Speed::Times(speed) if speed < 1.0 => format!("1/{:.0} ×", 1.0 / speed),
        Speed::Times(speed) => format!("{speed:.0} ×"),
        Speed::Unbounded => "max".into(),
    };
    let all = SPEEDS.map(Speed::Times).into_iter().chain([Speed::Unbounded]);
    let menu =
        ComboBox::from_id_salt("speed").width(58.0).selected_text(name(desk.state.speed)).show_ui(ui, |ui| {
            for speed in all {
                if ui.selectable_label(speed == desk.state.speed, name(speed)).clicked() {
                    desk.send(Command::Speed(speed));
                }
            }
        });
    desk.spots.note("speed", menu.response.rect);
    menu.response.on_hover_text("Slow motion, fast-forward, or as fast as possible");
}

fn tools(ui: &mut Ui, desk: &mut Desk) {
    ui.spacing_mut().item_spacing.x = 3.0;
    for (tool, name, help) in [
        (Tool::Grab, "grab", "Drag a body to pull it"),
        (Tool::Push, "push", "Click a body to push it (Shift + click)"),
        (Tool::Pin, "pin", "Click a body to pin it in place or release it (Ctrl + click)"),
    ] {
        let button = ui.selectable_label(desk.tool == tool, name);
        desk.spots.note(format!("tool:{name}"), button.rect);
        if button.on_hover_text(help).clicked() {
            desk.tool = tool;
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

fn looks(ui: &mut Ui, desk: &mut Desk) {
    let menu = ComboBox::from_id_salt("colour").width(112.0).selected_text(desk.look.colour.name()).show_ui(
        ui,
        |ui| {
            for colour in Colour::ALL {
                ui.selectable_value(&mut desk.look.colour, colour, colour.name());
            }
        },
    );
    desk.spots.note("colour", menu.response.rect);
    menu.response.on_hover_text("Quantity shown by the colours (1 – 5)");
    ui.toggle_value(&mut desk.look.wireframe, "wire")
        .on_hover_text("Show the edges of the simulated mesh (W)");
    ui.toggle_value(&mut desk.look.skin, "skin")
        .on_hover_text("Show the fine skin of bodies that have one (K)");
    ui.toggle_value(&mut desk.contacts, "contacts").on_hover_text("Mark contact points (C)");
}

fn pictures(ui: &mut Ui, desk: &mut Desk) {
    if ui.button("?").on_hover_text("Help (H)").clicked() {
        desk.help = !desk.help;
    }
    let on = desk.recording.is_on();
    let text = match on {
        true => RichText::new("stop").color(theme::WRONG),
        false => RichText::new("record"),
    };
    let button = ui.button(text);
    desk.spots.note("record", button.rect);
    if button.on_hover_text("Record the view to a file").clicked() {
        desk.toggle_recording();
    }
    let name =
        FORMATS.iter().find(|(format, ..)| *format == desk.recording.format).map_or("", |(_, name, _)| name);
    ui.add_enabled_ui(!on, |ui| {
        ComboBox::from_id_salt("format").width(62.0).selected_text(name).show_ui(ui, |ui| {
            for (format, name, help) in FORMATS {
                ui.selectable_value(&mut desk.recording.format, format, name).on_hover_text(help);
            }
        });
    });
    let shot = ui.button("picture");
    desk.spots.note("picture", shot.rect);
    if shot.on_hover_text("Save a picture of the window (S)").clicked() {
        desk.screenshot = true;
    }
}
