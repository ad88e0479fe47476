//! The status bar: last message, speed, adapter.

use crate::app::desk::Desk;
use crate::app::theme;
use egui::{Align, Layout, ProgressBar, RichText, Ui};

/// The bar.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        ui.set_min_height(18.0);
        let small = |text: String, colour| RichText::new(text).small().color(colour);
        if let Some(fault) = &desk.state.fault {
            ui.label(small(fault.message.chars().take(160).collect(), theme::WRONG))
                .on_hover_text(&fault.message);
        } else if let Some(message) = &desk.message {
            let colour = if message.wrong { theme::WRONG } else { theme::GOOD };
            ui.label(small(message.text.clone(), colour));
        } else if desk.state.loading {
            ui.label(small("preparing …".into(), theme::ACCENT));
        } else if let Some(warning) = desk.lane().and_then(|lane| lane.warnings.last()) {
            ui.label(small(warning.chars().take(160).collect(), theme::ACCENT)).on_hover_text(warning);
        } else if let Some(lane) = desk.lane() {
            let description = lane.loaded.scene.description.clone();
            ui.label(small(description, theme::QUIET));
        }
        if let Some([taken, written]) = desk.recording.progress() {
            let share = if desk.recording.is_on() { 0.0 } else { written as f32 / taken.max(1) as f32 };
            let text = match desk.recording.is_on() {
                true => format!("{taken} pictures"),
                false => format!("writing {written} of {taken}"),
            };
            ui.add(ProgressBar::new(share).desired_width(150.0).text(RichText::new(text).small()));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let software = if desk.adapter.software { ", software: reduced quality" } else { "" };
            let name = desk.adapter.name.split('(').next().unwrap_or_default().trim().to_string();
            ui.label(small(format!("{name}{software}"), theme::QUIET))
                .on_hover_text(desk.adapter.to_string());
            ui.label(small(format!("{:.0} fps", desk.frame_rate), theme::QUIET));
            let (text, colour) = match desk.state.paused {
                true => ("paused".to_string(), theme::ACCENT),
                false => (format!("{:.2} × real time", desk.state.pace), theme::TEXT),
            };
            ui.label(small(text, colour)).on_hover_text("Simulated seconds per second");
        });
    });
}
