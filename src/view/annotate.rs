//! Text on pictures: colour-map legends, captions, and rows of pictures.

use super::canvas::Picture;
use super::chart::{FONT, use_fonts};
use super::look::{self, Colour};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Text colour.
const INK: RGBColor = RGBColor(38, 43, 52);

fn on(picture: &mut Picture, draw: impl FnOnce(&Area<'_>) -> Option<()>) {
    let mut rgb: Vec<u8> = picture.rgba.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    {
        let area = BitMapBackend::with_buffer(&mut rgb, (picture.width, picture.height)).into_drawing_area();
        // a failed label is no reason to drop the picture
        let _ = draw(&area);
        let _ = area.present();
    }
    for (pixel, rgb) in picture.rgba.chunks_exact_mut(4).zip(rgb.chunks_exact(3)) {
        pixel[..3].copy_from_slice(rgb);
    }
}

type Area<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;

fn text(area: &Area<'_>, words: &str, at: (i32, i32), size: f64, pos: Pos) -> Option<()> {
    let style = TextStyle::from((FONT, size).into_font()).color(&INK).pos(pos);
    area.draw(&Text::new(words.to_string(), at, style)).ok()
}

/// A number in legend style.
fn short(value: f32) -> String {
    // the device computes powers of ten with a small error
    let value: f32 = format!("{value:.3e}").parse().unwrap_or(value);
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&value.abs()) {
        format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').into()
    } else {
        format!("{value:.1e}").replace(".0e", "e")
    }
}

/// Draws the colour map in the lower right corner, with quantity, unit and ends.
pub fn legend(picture: &mut Picture, colour: Colour, [low, high]: [f32; 2]) {
    use_fonts();
    let (width, height) = (picture.width as i32, picture.height as i32);
    let scale = (height as f64 / 720.0).max(0.65);
    let (bar, thick, margin) = ((240.0 * scale) as i32, (14.0 * scale) as i32, (24.0 * scale) as i32);
    let size = 19.0 * scale;
    let (left, top) = (width - margin - bar, height - margin - thick - (size * 1.3) as i32);
    if left < 0 || top < 0 {
        return;
    }
    on(picture, |area| {
        for x in 0..bar {
            let [r, g, b] = look::map(x as f32 / (bar - 1).max(1) as f32);
            let column = [(left + x, top), (left + x + 1, top + thick)];
            area.draw(&Rectangle::new(column, RGBColor(r, g, b).filled())).ok()?;
        }
        let below = top + thick + (3.0 * scale) as i32;
        text(area, &short(low), (left, below), size, Pos::new(HPos::Left, VPos::Top))?;
        text(area, &short(high), (left + bar, below), size, Pos::new(HPos::Right, VPos::Top))?;
        let unit = if colour == Colour::Strain { String::new() } else { format!(" ({})", colour.unit()) };
        let title = format!("{}{unit}", colour.name());
        let above = top - (4.0 * scale) as i32;
        text(area, &title, (left + bar / 2, above), size, Pos::new(HPos::Center, VPos::Bottom))
    });
}

/// Draws a caption in the upper left corner.
pub fn caption(picture: &mut Picture, words: &str) {
    use_fonts();
    let scale = (f64::from(picture.height) / 720.0).max(0.5);
    let at = ((20.0 * scale) as i32, (16.0 * scale) as i32);
    on(picture, |area| text(area, words, at, 24.0 * scale, Pos::new(HPos::Left, VPos::Top)));
}

/// Joins pictures of the same height in a row with white gaps.
pub fn row(pictures: &[Picture]) -> Option<Picture> {
    const GAP: u32 = 4;
    let height = pictures.first()?.height;
    let width = pictures.iter().map(|p| p.width).sum::<u32>() + GAP * (pictures.len() as u32 - 1);
    let mut rgba = vec![255; 4 * width as usize * height as usize];
    let mut left = 0;
    for picture in pictures.iter().filter(|picture| picture.height == height) {
        let bytes = 4 * picture.width as usize;
        for (y, line) in picture.rgba.chunks_exact(bytes).enumerate() {
            let at = 4 * (y * width as usize + left as usize);
            rgba[at..at + bytes].copy_from_slice(line);
        }
        left += picture.width + GAP;
    }
    Some(Picture { width, height, rgba })
}

/// Joins pictures below each other with white gaps, each flush left.
pub fn column(pictures: &[Picture]) -> Option<Picture> {
    const GAP: u32 = 4;
    let width = pictures.iter().map(|picture| picture.width).max()?;
    let height = pictures.iter().map(|p| p.height).sum::<u32>() + GAP * (pictures.len() as u32 - 1);
    let mut rgba = vec![255; 4 * width as usize * height as usize];
    let mut top = 0;
    for picture in pictures {
        let bytes = 4 * picture.width as usize;
        for (y, line) in picture.rgba.chunks_exact(bytes).enumerate() {
            let at = 4 * (top as usize + y) * width as usize;
            rgba[at..at + bytes].copy_from_slice(line);
        }
        top += picture.height + GAP;
    }
    Some(Picture { width, height, rgba })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: u32, height: u32) -> Picture {
        Picture { width, height, rgba: vec![255; 4 * (width * height) as usize] }
    }

    #[test]
    fn a_legend_shows_the_map_its_ends_and_its_name() {
        let drawn = |colour, range| {
            let mut picture = blank(1280, 720);
            legend(&mut picture, colour, range);
            picture
        };
        let picture = drawn(Colour::Speed, [0.0, 5.0]);
        let has = |[r, g, b]: [u8; 3]| picture.rgba.chunks_exact(4).any(|p| p[..3] == [r, g, b]);
        assert!(has(look::map(0.0)) && has(look::map(1.0)));
        let different = |other: Picture| {
            picture.rgba.chunks_exact(4).zip(other.rgba.chunks_exact(4)).filter(|(a, b)| a != b).count()
        };
        // a digit has some ten pixels, a name some hundred
        assert!(different(drawn(Colour::Speed, [0.0, 7.0])) > 10);
        assert!(different(drawn(Colour::Damping, [0.0, 5.0])) > 100);
    }

    #[test]
    fn pictures_stand_below_each_other() {
        let dark = |width, height| Picture { width, height, rgba: vec![0; 4 * (width * height) as usize] };
        let joined = column(&[dark(3, 2), dark(5, 1)]).unwrap();
        assert_eq!([joined.width, joined.height], [5, 7], "a gap of four lines");
        let line = |y: usize| joined.rgba[20 * y..20 * y + 20].iter().filter(|byte| **byte == 0).count();
        assert_eq!([0, 1, 2, 5, 6].map(line), [12, 12, 0, 0, 20]);
        assert!(column(&[]).is_none());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.5, 999.9999, 20000.0, 5e6, 1e-5].map(short),
            ["0", "0.5", "1000", "20000", "5e6", "1e-5"]
        );
    }

    #[test]
    fn pictures_in_a_row_keep_their_pixels() {
        let [mut a, b] = [blank(3, 2), blank(2, 2)];
        a.rgba[..3].copy_from_slice(&[1, 2, 3]);
        let row = row(&[a, b]).unwrap();
        assert_eq!((row.width, row.height, &row.rgba[..3]), (9, 2, &[1, 2, 3][..]));
        assert_eq!(super::row(&[]), None);
    }
}
