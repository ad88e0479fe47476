//! Visual style: dark and quiet, so that bodies and curves carry the colours.

use egui::{Color32, CornerRadius, FontId, Margin, Stroke, TextStyle, Vec2};
use egui_plot::{Corner, Legend, Plot};

/// Window background.
pub const GROUND: Color32 = Color32::from_rgb(24, 26, 31);
pub const PANEL: Color32 = Color32::from_rgb(31, 34, 41);
/// Cards in panels.
pub const CARD: Color32 = Color32::from_rgb(40, 44, 53);
/// Clickable widgets.
pub const WIDGET: Color32 = Color32::from_rgb(54, 59, 71);
/// Selection.
pub const ACCENT: Color32 = Color32::from_rgb(236, 142, 74);
pub const TEXT: Color32 = Color32::from_rgb(222, 225, 231);
/// Secondary text.
pub const QUIET: Color32 = Color32::from_rgb(146, 153, 167);
/// Errors.
pub const WRONG: Color32 = Color32::from_rgb(240, 110, 100);
/// Success.
pub const GOOD: Color32 = Color32::from_rgb(120, 196, 128);

/// Colours of the slots, their titles and curves.
pub const SLOTS: [Color32; 4] = [
    Color32::from_rgb(236, 142, 74),
    Color32::from_rgb(92, 168, 232),
    Color32::from_rgb(140, 204, 108),
    Color32::from_rgb(214, 124, 196),
];

/// The colour of a slot.
pub fn slot(k: usize) -> Color32 {
    SLOTS[k % SLOTS.len()]
}

/// Losses to damping, integrator, contact and yielding; external work.
pub const LEDGER: [Color32; 5] = [
    Color32::from_rgb(92, 168, 232),
    Color32::from_rgb(226, 186, 86),
    Color32::from_rgb(198, 104, 128),
    Color32::from_rgb(160, 132, 214),
    Color32::from_rgb(120, 196, 128),
];

pub fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        let visuals = &mut style.visuals;
        *visuals = egui::Visuals::dark();
        visuals.panel_fill = PANEL;
        visuals.window_fill = CARD;
        visuals.extreme_bg_color = GROUND;
        visuals.faint_bg_color = CARD;
        visuals.override_text_color = Some(TEXT);
        visuals.selection.bg_fill = ACCENT.gamma_multiply(0.55);
        visuals.selection.stroke = Stroke::new(1.0, Color32::WHITE);
        visuals.hyperlink_color = ACCENT;
        visuals.slider_trailing_fill = true;
        let round = CornerRadius::same(5);
        for (widget, fill) in [
            (&mut visuals.widgets.inactive, WIDGET),
            (&mut visuals.widgets.hovered, Color32::from_rgb(70, 77, 93)),
            (&mut visuals.widgets.active, Color32::from_rgb(86, 94, 112)),
            (&mut visuals.widgets.open, WIDGET),
        ] {
            (widget.bg_fill, widget.weak_bg_fill, widget.corner_radius) = (fill, fill, round);
            widget.bg_stroke = Stroke::NONE;
            widget.expansion = 0.0;
        }
        visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, Color32::from_rgb(52, 57, 68));
        visuals.window_corner_radius = CornerRadius::same(8);
        style.spacing.item_spacing = Vec2::new(8.0, 6.0);
        style.spacing.button_padding = Vec2::new(9.0, 4.0);
        style.spacing.interact_size.y = 24.0;
        style.spacing.window_margin = Margin::same(12);
        style.text_styles.insert(TextStyle::Body, FontId::proportional(13.5));
        style.text_styles.insert(TextStyle::Button, FontId::proportional(13.5));
        style.text_styles.insert(TextStyle::Small, FontId::proportional(11.5));
        style.text_styles.insert(TextStyle::Heading, FontId::proportional(16.0));
    });
}

pub fn heading(ui: &mut egui::Ui, text: &str) {
    ui.label(egui::RichText::new(text).strong().size(13.5));
}

/// A help text.
pub fn quiet(ui: &mut egui::Ui, text: impl Into<String>) {
    ui.label(egui::RichText::new(text).small().color(QUIET));
}

/// An error text.
pub fn wrong(ui: &mut egui::Ui, text: impl Into<String>) {
    ui.label(egui::RichText::new(text).small().color(WRONG));
}

/// A card grouping related widgets.
pub fn card<R>(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui) -> R) -> R {
    let frame = egui::Frame::new().fill(CARD).corner_radius(7).inner_margin(Margin::symmetric(10, 8));
    frame
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            contents(ui)
        })
        .inner
}

/// A number for reading: three digits, scientific notation for very small or large values.
pub fn plot(id: impl egui::AsIdSalt, height: f32) -> Plot<'static> {
    Plot::new(id)
        .height(height)
        .show_x(false)
        .show_y(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .y_axis_formatter(|mark, _| number(mark.value))
}

/// The legend of such a plot.
pub fn legend() -> Legend {
    Legend::default().position(Corner::RightTop).background_alpha(0.35).text_style(TextStyle::Small)
}

/// A number as a person writes it: three digits, powers of ten where there are too many zeros.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{value:.2e}");
        return text.replacen(".00e", "e", 1);
    }
    let digits = (2 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short_and_right() {
        let written = [0.0, 1e-7, 0.0123, 3.25159, 99.0, 1234.5, 7.2e8, -0.5, 0.005].map(number);
        assert_eq!(written, ["0", "1e-7", "0.0123", "3.25", "99", "1234", "7.20e8", "-0.5", "0.005"]);
    }
}
