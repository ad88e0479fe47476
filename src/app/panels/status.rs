//! The status bar: last message, speed, adapter.

use crate::app::{UiState, theme};
use egui::{Align, Layout, ProgressBar, RichText, Ui};

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        ui.set_min_height(18.0);
        let small = |text: String, colour| RichText::new(text).small().color(colour);
        if let Some(fault) = &ui_state.state.fault {
            ui.label(small(fault.message.chars().take(160).collect(), theme::WRONG))
                .on_hover_text(&fault.message);
        } else if let Some(message) = &ui_state.message {
            let colour = if message.wrong { theme::WRONG } else { theme::GOOD };
            ui.label(small(message.text.clone(), colour));
        } else if ui_state.state.loading {
            ui.label(small("preparing …".into(), theme::ACCENT));
        } else if let Some(warning) = ui_state.slot().and_then(|slot| slot.warnings.last()) {
            ui.label(small(warning.chars().take(160).collect(), theme::ACCENT)).on_hover_text(warning);
        } else if let Some(slot) = ui_state.slot() {
            let description = slot.loaded.scene.description.clone();
            ui.label(small(description, theme::QUIET));
        }
        if let Some([taken, written]) = ui_state.recording.progress() {
            let share = if ui_state.recording.is_on() { 0.0 } else { written as f32 / taken.max(1) as f32 };
            let text = match ui_state.recording.is_on() {
                true => format!("{taken} pictures"),
                false => format!("writing {written} of {taken}"),
            };
            ui.add(ProgressBar::new(share).desired_width(150.0).text(RichText::new(text).small()));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let software = if ui_state.adapter.software { ", software: reduced quality" } else { "" };
            let name = ui_state.adapter.name.split('(').next().unwrap_or_default().trim().to_string();
            ui.label(small(format!("{name}{software}"), theme::QUIET))
                .on_hover_text(ui_state.adapter.to_string());
            ui.label(small(format!("{:.0} fps", ui_state.frame_rate), theme::QUIET));
            let (text, colour) = match ui_state.state.paused {
                true => ("paused".to_string(), theme::ACCENT),
                false => (format!("{:.2} × real time", ui_state.state.pace), theme::TEXT),
            };
            ui.label(small(text, colour)).on_hover_text("Simulated seconds per second");
        });
    });
}
