//! Editor of a curve γ(r): drag points, double-click to add, right-click to remove; or use the keys.

use crate::app::design::points::{self, Axes, LOGS};
use crate::app::session::ExampleMotion;
use crate::app::theme;
use crate::scene::{Curve, Over};
use egui::{
    Align2, Color32, CornerRadius, EventFilter, FontId, Key, PointerButton, Pos2, Rect, Response, Sense,
    Shape, Stroke, Ui, pos2, vec2,
};

/// Height of the editor (points).
const HEIGHT: f32 = 176.0;

/// Margins for axis labels, left and below (points).
const MARGIN: [f32; 2] = [36.0, 20.0];

/// Picking distance of a point (points).
const REACH: f32 = 12.0;

/// Displacement of a point per arrow key: fraction of the axis, and of a decade.
const NUDGE: [f64; 2] = [0.01, 0.05];

/// Editor state kept between frames.
pub struct Held<'a> {
    /// The point that keys move.
    pub point: &'a mut Option<usize>,
    /// Whether it is being dragged.
    pub dragged: &'a mut bool,
    /// The right end of the axis.
    pub right: &'a mut f64,
}

pub struct Edited {
    /// The curve, if it changed.
    pub curve: Option<Curve>,
    /// Whether the change belongs to a drag.
    pub gesture: bool,
    /// The editor.
    pub response: Response,
    /// Axes of the drawn points.
    pub axes: Axes,
}

/// Name and unit of r.
fn name(over: Over) -> &'static str {
    match over {
        Over::Deformation => "|χ|",
        Over::Velocity => "|dχ/dt| (1/s)",
    }
}

/// r for a curve over deformation or velocity.
pub fn size(over: Over, along: &ExampleMotion) -> f64 {
    match over {
        Over::Deformation => along.excitation.abs(),
        Over::Velocity => along.rate.abs(),
    }
}

/// Shows the editor. `now` is the current motion along the example, `reached` the largest recent r.
pub fn edit(ui: &mut Ui, curve: &Curve, held: Held<'_>, now: Option<ExampleMotion>, reached: f64) -> Edited {
    let wanted = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(wanted, Sense::click_and_drag());
    if !*held.dragged {
        *held.right = points::right_end(&curve.points, reached);
    }
    let inner = Rect::from_min_max(rect.min + vec2(MARGIN[0], 8.0), rect.max - vec2(8.0, MARGIN[1]));
    let axes = Axes { rect: inner, right: *held.right };
    if held.point.is_some_and(|point| point >= curve.points.len()) {
        *held.point = None;
    }
    let mut edited = curve.clone();
    let mut gesture = mouse(ui, &response, axes, &mut edited, held.point, held.dragged);
    gesture |= keys(ui, &response, axes.right, &mut edited, held.point);
    draw_axes(ui, rect, axes, edited.over, response.has_focus());
    draw_curve(ui, &response, axes, &edited, *held.point);
    if let Some(now) = now {
        draw_now(ui, axes, &edited, &now);
    }
    Edited { curve: (edited != *curve).then_some(edited), gesture, response, axes }
}

/// Mouse input; returns whether it continues a gesture.
fn mouse(
    ui: &Ui,
    response: &Response,
    axes: Axes,
    curve: &mut Curve,
    point: &mut Option<usize>,
    dragged: &mut bool,
) -> bool {
    let pressed = ui.input(|input| input.pointer.button_pressed(PointerButton::Primary));
    let at = ui.input(|input| input.pointer.interact_pos());
    if pressed && response.contains_pointer() {
        // the press position: egui's drag starts a few pixels later, and at low frame rates the mouse is far away by
        // then
        let origin = ui.input(|input| input.pointer.press_origin());
        *point = origin.and_then(|origin| axes.nearest(&curve.points, origin, REACH));
        *dragged = point.is_some();
        response.request_focus();
    }
    if response.clicked_elsewhere() {
        response.surrender_focus();
    }
    // the last movement comes with the end of the drag
    let moves = *dragged && (response.dragged() || response.drag_stopped());
    if ui.input(|input| !input.pointer.button_down(PointerButton::Primary)) {
        *dragged = false;
    }
    let at = at.filter(|_| response.contains_pointer() || moves);
    if response.double_clicked()
        && let Some(at) = at.filter(|at| axes.nearest(&curve.points, *at, REACH).is_none())
    {
        *point = points::add(curve, axes.of_window(at), axes.right);
    } else if response.secondary_clicked() {
        let under = at.and_then(|at| axes.nearest(&curve.points, at, REACH));
        if under.is_some_and(|under| points::remove(curve, under)) {
            *point = None;
        }
    } else if let (true, Some(index), Some(at)) = (moves, *point, at) {
        points::shift(curve, index, axes.of_window(at), axes.right);
        return true;
    }
    false
}

/// Keyboard input while the editor has focus.
fn keys(ui: &Ui, response: &Response, right: f64, curve: &mut Curve, point: &mut Option<usize>) -> bool {
    if !response.has_focus() {
        return false;
    }
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    let last = curve.points.len().saturating_sub(1);
    if pressed(Key::PageDown) {
        *point = Some(point.map_or(0, |point| (point + 1).min(last)));
    }
    if pressed(Key::PageUp) {
        *point = Some(point.map_or(last, |point| point.saturating_sub(1)));
    }
    let Some(index) = *point else { return false };
    if pressed(Key::Delete) && points::remove(curve, index) {
        *point = Some(index.min(curve.points.len() - 1));
    } else if pressed(Key::Insert) {
        *point = points::add_after(curve, index, right).or(*point);
    } else {
        let step = |less: Key, more: Key| f64::from(i8::from(pressed(more)) - i8::from(pressed(less)));
        let by = [step(Key::ArrowLeft, Key::ArrowRight), step(Key::ArrowDown, Key::ArrowUp)];
        if by != [0.0; 2] {
            let [r, log] = curve.points[index];
            let to = [r + by[0] * NUDGE[0] * right, log + by[1] * NUDGE[1]];
            points::shift(curve, index, to, right);
        }
    }
    false
}

/// Axis labels; γ = 1 is emphasised.
fn draw_axes(ui: &Ui, rect: Rect, axes: Axes, over: Over, focused: bool) {
    let painter = ui.painter();
    painter.rect_filled(rect, CornerRadius::same(5), theme::GROUND);
    let font = FontId::proportional(10.5);
    for log in LOGS[0] as i32..=LOGS[1] as i32 {
        let y = axes.to_window([0.0, f64::from(log)]).y;
        let strong = if log == 0 { 70 } else { 22 };
        let stroke = Stroke::new(1.0, Color32::from_white_alpha(strong));
        painter.line_segment([pos2(axes.rect.min.x, y), pos2(axes.rect.max.x, y)], stroke);
        let text = theme::number(10f64.powi(log));
        painter.text(pos2(axes.rect.min.x - 5.0, y), Align2::RIGHT_CENTER, text, font.clone(), theme::QUIET);
    }
    const PARTS: usize = 4;
    for k in 0..=PARTS {
        let r = axes.right * k as f64 / PARTS as f64;
        let x = axes.to_window([r, 0.0]).x;
        let stroke = Stroke::new(1.0, Color32::from_white_alpha(22));
        painter.line_segment([pos2(x, axes.rect.min.y), pos2(x, axes.rect.max.y)], stroke);
        let (align, text) = match k {
            PARTS => (Align2::RIGHT_TOP, format!("{}  {}", name(over), theme::number(r))),
            _ => (Align2::CENTER_TOP, theme::number(r)),
        };
        let at = pos2(if k == PARTS { axes.rect.max.x + 4.0 } else { x }, axes.rect.max.y + 4.0);
        // the axis name replaces the last number
        if k != PARTS - 1 {
            painter.text(at, align, text, font.clone(), theme::QUIET);
        }
    }
    let label = painter.layout_no_wrap("γ".into(), FontId::proportional(12.0), theme::QUIET);
    painter.galley(axes.rect.right_top() + vec2(-12.0, 0.0), label, theme::QUIET);
    if focused {
        let stroke = Stroke::new(1.0, theme::ACCENT.gamma_multiply(0.7));
        painter.rect_stroke(rect, CornerRadius::same(5), stroke, egui::StrokeKind::Inside);
    }
}

fn draw_curve(ui: &Ui, response: &Response, axes: Axes, curve: &Curve, chosen: Option<usize>) {
    let painter = ui.painter();
    const PIECES: usize = 160;
    let at = |k: usize| axes.right * k as f64 / PIECES as f64;
    let mut marks: Vec<f64> = (0..=PIECES).map(at).collect();
    // include the kinks of straight segments
    marks.extend(curve.points.iter().map(|point| point[0]).filter(|r| *r < axes.right));
    marks.sort_by(f64::total_cmp);
    let line: Vec<Pos2> = marks.into_iter().map(|r| axes.to_window([r, curve.log_gamma(r)])).collect();
    painter.add(Shape::line(line, Stroke::new(2.2, theme::ACCENT)));
    let hovered = response.hover_pos().and_then(|at| axes.nearest(&curve.points, at, REACH));
    for (index, point) in curve.points.iter().enumerate() {
        let centre = axes.to_window(*point);
        let radius = if hovered == Some(index) { 6.5 } else { 5.0 };
        let fill = if chosen == Some(index) { Color32::WHITE } else { theme::ACCENT };
        painter.circle(centre, radius, fill, Stroke::new(1.5, theme::GROUND));
    }
}

/// The current motion: its size and damping.
fn draw_now(ui: &Ui, axes: Axes, curve: &Curve, now: &ExampleMotion) {
    let r = size(curve.over, now);
    if !r.is_finite() {
        return;
    }
    let colour = theme::slot(1);
    let shown = axes.to_window([r.min(axes.right), curve.log_gamma(r)]);
    let [low, high] = [axes.rect.max.y, axes.rect.min.y].map(|y| pos2(shown.x, y));
    ui.painter().line_segment([low, high], Stroke::new(1.2, colour.gamma_multiply(0.6)));
    ui.painter().circle(shown, 3.5, colour, Stroke::new(1.0, Color32::WHITE));
}
