//! Screenshots and recordings of the bodies.

use super::ui_state::UiState;
use crate::view::Picture;
use crate::view::record::{Format, Recorder};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Available formats, with labels and descriptions.
pub const FORMATS: [(Format, &str, &str); 4] = [
    (Format::Gif, "GIF", "opens everywhere, 256 colours"),
    (Format::Apng, "APNG", "exact colours, opens in browsers"),
    (Format::Mp4, "MP4", "small, needs ffmpeg"),
    (Format::Sequence, "PNG files", "a folder of numbered pictures"),
];

/// Recorded pictures per second.
const RATE: f64 = 20.0;

/// Maximum number of copies of a picture when rendering is slower than the recording: playback keeps the speed seen.
const MOST_COPIES: usize = 10;

/// The current recording, if any.
pub struct Recording {
    /// Format of the next recording.
    pub format: Format,
    recorder: Option<Recorder>,
    size: [u32; 2],
    begun: Instant,
    /// No picture is taken before this time, while the encoder is busy.
    not_before: Instant,
    ending: bool,
}

impl Default for Recording {
    fn default() -> Self {
        let now = Instant::now();
        Recording {
            format: Format::Gif,
            recorder: None,
            size: [0; 2],
            begun: now,
            not_before: now,
            ending: false,
        }
    }
}

/// An unused file name in a folder: `dashpot-cube-001.gif`.
pub fn free_name(folder: &Path, scene: &str, ending: &str) -> PathBuf {
    let dot = if ending.is_empty() { "" } else { "." };
    let name = |k: usize| folder.join(format!("dashpot-{scene}-{k:03}{dot}{ending}"));
    (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

impl Recording {
    pub fn is_on(&self) -> bool {
        self.recorder.is_some() && !self.ending
    }

    /// Pictures taken and written, while any are pending.
    pub fn progress(&self) -> Option<[usize; 2]> {
        self.recorder.as_ref().map(Recorder::progress)
    }

    fn taken(&self) -> usize {
        self.progress().map_or(0, |[taken, _]| taken)
    }

    /// Required picture size (pixels), if one is due.
    pub fn due(&self) -> Option<[u32; 2]> {
        self.next().filter(|next| Instant::now() >= *next).map(|_| self.size)
    }

    /// Picture size (pixels), while recording.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.is_on().then_some(self.size)
    }

    /// When the next picture is due.
    pub fn next(&self) -> Option<Instant> {
        let due = self.begun + Duration::from_secs_f64(self.taken() as f64 / RATE);
        self.is_on().then(|| due.max(self.not_before))
    }

    fn start(&mut self, folder: &Path, scene: &str, size: [u32; 2]) -> Result<PathBuf> {
        if let Err(reason) = self.format.available() {
            return Err(Error::Input(crate::error::InputError::new(reason)));
        }
        std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
        let path = free_name(folder, scene, self.format.ending());
        // video needs even sizes
        self.size = size.map(|side| (side & !1).max(2));
        self.recorder = Some(Recorder::start(&path, self.format, self.size, RATE)?);
        (self.begun, self.ending) = (Instant::now(), false);
        Ok(path)
    }

    /// Takes a picture, repeated for as long as it was on screen. Never waits: copies that do not fit are made of the
    /// next picture.
    fn take(&mut self, picture: &Picture) -> Result<()> {
        let due = (self.begun.elapsed().as_secs_f64() * RATE) as usize + 1;
        let copies = due.saturating_sub(self.taken()).min(MOST_COPIES);
        match &mut self.recorder {
            Some(recorder) if [picture.width, picture.height] == self.size => {
                for _ in 0..copies {
                    if !recorder.offer(picture.rgba.clone())? {
                        self.not_before = Instant::now() + Duration::from_secs_f64(1.0 / RATE);
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits for pending writes; `None` if nothing was recorded.
    pub fn finish(&mut self) -> Option<Result<PathBuf>> {
        self.ending = false;
        self.recorder.take().map(Recorder::finish)
    }
}

impl UiState {
    fn scene_name(&self) -> String {
        self.state.slots.first().map_or("scene".into(), |slot| slot.loaded.name.clone())
    }

    /// Starts or stops a recording.
    pub fn toggle_recording(&mut self) {
        if self.recording.is_on() {
            self.recording.ending = true;
            if let Some(recorder) = &mut self.recording.recorder {
                recorder.close();
            }
            return;
        }
        if self.recording.recorder.is_some() && self.recording.ending {
            self.show_error("the previous recording is still being written");
            return;
        }
        let size = self.picture_size();
        match self.recording.start(&self.pictures.clone(), &self.scene_name(), size) {
            Ok(path) => self.show_message(format!("recording {} …", path.display())),
            Err(error) => self.show_error(error.to_string()),
        }
    }

    /// Checks whether a finished recording has been written.
    pub fn poll_recording(&mut self) {
        let written = self.recording.recorder.as_ref().is_some_and(Recorder::is_done);
        if written && let Some(done) = self.recording.finish() {
            match done {
                Ok(path) => self.show_message(format!("written: {}", path.display())),
                Err(error) => self.show_error(error.to_string()),
            }
        }
    }

    /// Adds a picture to the recording; a write error ends it.
    pub fn record(&mut self, picture: Picture) {
        if let Err(error) = self.recording.take(&picture) {
            self.recording.recorder = None;
            self.show_error(error.to_string());
        }
    }

    /// Saves a screenshot of the window.
    pub fn save_picture(&mut self, picture: &Picture) {
        let path = free_name(&self.pictures, &self.scene_name(), "png");
        let saved = std::fs::create_dir_all(&self.pictures)
            .map_err(Error::write(&self.pictures))
            .and_then(|()| picture.write_png(&path));
        match saved {
            Ok(()) => self.show_message(format!("written: {}", path.display())),
            Err(error) => self.show_error(error.to_string()),
        }
    }
}
