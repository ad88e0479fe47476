//! The toolbar: scene, playback, mouse tool, colours, pictures.

use crate::app::recording::FORMATS;
use crate::app::session::pace::{SPEEDS, Speed};
use crate::app::session::spec::Spec;
use crate::app::ui_state::{Tool, UiState};
use crate::app::{Command, theme};
use crate::scene::builtin::SCENES;
use crate::view::Colour;
use egui::{Button, ComboBox, RichText, Ui};

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        scenes(ui, ui_state);
        ui.separator();
        transport(ui, ui_state);
        ui.separator();
        tools(ui, ui_state);
        ui.separator();
        looks(ui, ui_state);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| pictures(ui, ui_state));
    });
}

fn scenes(ui: &mut Ui, ui_state: &mut UiState) {
    let now = ui_state.state.slots.first().map_or("…".to_string(), |slot| slot.loaded.name.clone());
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
            text.append(&ui_state.descriptions[scene.name], 12.0, plain(theme::QUIET));
            text.wrap.max_rows = 1;
            let entry = ui.selectable_label(scene.name == now, text);
            ui_state.widget_rects.record(format!("scene:{}", scene.name), entry.rect);
            if entry.clicked() {
                chosen = Some(scene.name.to_string());
            }
        }
        ui.separator();
        ui.horizontal(|ui| {
            ui.label("from a file:");
            let typed = ui.add(
                egui::TextEdit::singleline(&mut ui_state.typed_scene)
                    .hint_text("path/to/scene.toml")
                    .desired_width(360.0),
            );
            let entered = typed.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if (ui.button("open").clicked() || entered) && !ui_state.typed_scene.trim().is_empty() {
                chosen = Some(ui_state.typed_scene.trim().to_string());
            }
        });
    });
    ui_state.widget_rects.record("scenes", menu.response.rect);
    menu.response.on_hover_text("Choose a scene");
    if let Some(scene) = chosen {
        let backend = ui_state.slot().map(|slot| slot.spec.backend).unwrap_or_default();
        ui_state.send(Command::Open(vec![Spec { backend, ..Spec::of(&scene) }]));
    }
}

fn transport(ui: &mut Ui, ui_state: &mut UiState) {
    let paused = ui_state.state.paused;
    let text = if paused { "play" } else { "pause" };
    let button = ui.add(Button::new(text).min_size(egui::vec2(64.0, 0.0)));
    ui_state.widget_rects.record("pause", button.rect);
    if button.on_hover_text("Play or pause (space)").clicked() {
        ui_state.send(Command::Pause(!paused));
    }
    let step = ui.button("step");
    ui_state.widget_rects.record("step", step.rect);
    if step.on_hover_text("Advance one frame (. or →)").clicked() {
        ui_state.send(Command::Step);
    }
    let reset = ui.button("reset");
    ui_state.widget_rects.record("reset", reset.rect);
    if reset.on_hover_text("Restart (R)").clicked() {
        ui_state.send(Command::Reset);
    }
    let name = |speed: Speed| match speed {
        Speed::Times(speed) if speed < 1.0 => format!("1/{:.0} ×", 1.0 / speed),
        Speed::Times(speed) => format!("{speed:.0} ×"),
        Speed::Unbounded => "max".into(),
    };
    let all = SPEEDS.map(Speed::Times).into_iter().chain([Speed::Unbounded]);
    let menu = ComboBox::from_id_salt("speed").width(58.0).selected_text(name(ui_state.state.speed)).show_ui(
        ui,
        |ui| {
            for speed in all {
                if ui.selectable_label(speed == ui_state.state.speed, name(speed)).clicked() {
                    ui_state.send(Command::Speed(speed));
                }
            }
        },
    );
    ui_state.widget_rects.record("speed", menu.response.rect);
    menu.response.on_hover_text("Slow motion, fast-forward, or as fast as possible");
}

fn tools(ui: &mut Ui, ui_state: &mut UiState) {
    ui.spacing_mut().item_spacing.x = 3.0;
    for (tool, name, help) in [
        (Tool::Grab, "grab", "Drag a body to pull it"),
        (Tool::Push, "push", "Click a body to push it (Shift + click)"),
        (Tool::Pin, "pin", "Click a body to pin it in place or release it (Ctrl + click)"),
    ] {
        let button = ui.selectable_label(ui_state.tool == tool, name);
        ui_state.widget_rects.record(format!("tool:{name}"), button.rect);
        if button.on_hover_text(help).clicked() {
            ui_state.tool = tool;
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

fn looks(ui: &mut Ui, ui_state: &mut UiState) {
    let menu = ComboBox::from_id_salt("colour")
        .width(112.0)
        .selected_text(ui_state.look.colour.name())
        .show_ui(ui, |ui| {
            for colour in Colour::ALL {
                ui.selectable_value(&mut ui_state.look.colour, colour, colour.name());
            }
        });
    ui_state.widget_rects.record("colour", menu.response.rect);
    menu.response.on_hover_text("Quantity shown by the colours (1 – 5)");
    ui.toggle_value(&mut ui_state.look.wireframe, "wire")
        .on_hover_text("Show the edges of the simulated mesh (W)");
    ui.toggle_value(&mut ui_state.look.skin, "skin")
        .on_hover_text("Show the fine skin of bodies that have one (K)");
    ui.toggle_value(&mut ui_state.contacts, "contacts").on_hover_text("Mark contact points (C)");
}

fn pictures(ui: &mut Ui, ui_state: &mut UiState) {
    if ui.button("?").on_hover_text("Help (H)").clicked() {
        ui_state.help = !ui_state.help;
    }
    let on = ui_state.recording.is_on();
    let text = if on { RichText::new("stop").color(theme::WRONG) } else { RichText::new("record") };
    let button = ui.button(text);
    ui_state.widget_rects.record("record", button.rect);
    if button.on_hover_text("Record the view to a file").clicked() {
        ui_state.toggle_recording();
    }
    let name = FORMATS
        .iter()
        .find(|(format, ..)| *format == ui_state.recording.format)
        .map_or("", |(_, name, _)| name);
    ui.add_enabled_ui(!on, |ui| {
        ComboBox::from_id_salt("format").width(62.0).selected_text(name).show_ui(ui, |ui| {
            for (format, name, help) in FORMATS {
                ui.selectable_value(&mut ui_state.recording.format, format, name).on_hover_text(help);
            }
        });
    });
    let shot = ui.button("picture");
    ui_state.widget_rects.record("picture", shot.rect);
    if shot.on_hover_text("Save a picture of the window (S)").clicked() {
        ui_state.screenshot = true;
    }
}
