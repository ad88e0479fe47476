//! Animations and picture sequences, written by a background thread so that drawing never waits.

mod encode;

use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Maximum queued pictures.
const QUEUE: usize = 8;

/// Output format of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Format {
    /// An animated GIF: opens everywhere, 256 colours
    Gif,
    /// An animated PNG: exact, opens in browsers
    Apng,
    /// A film, by ffmpeg, if that is installed
    Mp4,
    /// A folder of numbered PNG files
    #[cfg_attr(feature = "cli", value(skip))]
    Sequence,
}

impl Format {
    /// File extension; empty for a folder.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Gif => "gif",
            Format::Apng => "png",
            Format::Mp4 => "mp4",
            Format::Sequence => "",
        }
    }

    /// Checks that it can be written on this machine; otherwise the reason.
    pub fn available(self) -> Result<(), String> {
        match self {
            Format::Mp4 if !encode::has_ffmpeg() => {
                Err("MP4 needs ffmpeg, which is not installed; gif and apng do not".into())
            }
            _ => Ok(()),
        }
    }
}

pub struct Recorder {
    path: PathBuf,
    bytes: usize,
    sender: Option<SyncSender<Vec<u8>>>,
    thread: Option<JoinHandle<Result<()>>>,
    pushed: usize,
    written: Arc<AtomicUsize>,
}

impl Recorder {
    /// Starts a recording of pictures of this size (pixels) at this rate (1/s), into a file, or a folder for a
    /// sequence.
    pub fn start(path: &Path, format: Format, [width, height]: [u32; 2], rate: f64) -> Result<Self> {
        let mut encoder = encode::open(format, path, [width, height], rate)?;
        let (sender, receiver) = sync_channel::<Vec<u8>>(QUEUE);
        let written = Arc::new(AtomicUsize::new(0));
        let count = written.clone();
        let failed = Error::write(path);
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(move || {
            for rgba in receiver {
                encoder.push(rgba)?;
                count.fetch_add(1, Ordering::Release);
            }
            encoder.finish()
        });
        Ok(Recorder {
            path: path.into(),
            bytes: 4 * width as usize * height as usize,
            sender: Some(sender),
            thread: Some(thread.map_err(failed)?),
            pushed: 0,
            written,
        })
    }

    /// Queues a picture: rows from the top, four bytes per pixel (sRGB and alpha). Waits only if the queue is full.
    /// Fails if the size is wrong or an earlier picture could not be written.
    pub fn push(&mut self, rgba: Vec<u8>) -> Result<()> {
        self.check(&rgba)?;
        self.pushed += 1;
        match self.sender.as_ref().map(|sender| sender.send(rgba)) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// Queues a picture like [`Recorder::push`] but never waits: `false` if the queue is full.
    pub fn offer(&mut self, rgba: Vec<u8>) -> Result<bool> {
        self.check(&rgba)?;
        match self.sender.as_ref().map(|sender| sender.try_send(rgba)) {
            Some(Ok(())) => {
                self.pushed += 1;
                Ok(true)
            }
            Some(Err(TrySendError::Full(_))) => Ok(false),
            _ => Err(self.ended()),
        }
    }

    fn check(&self, rgba: &[u8]) -> Result<()> {
        if rgba.len() != self.bytes {
            let message = format!("a picture of {} bytes, expected {}", rgba.len(), self.bytes);
            return Err(Error::write(&self.path)(std::io::Error::other(message)));
        }
        Ok(())
    }

    /// Why the thread stopped.
    fn ended(&mut self) -> Error {
        let unknown = Error::write(&self.path)(std::io::Error::other("the recording thread has stopped"));
        self.join().err().unwrap_or(unknown)
    }

    /// Pictures queued and written, for a progress bar.
    pub fn progress(&self) -> [usize; 2] {
        [self.pushed, self.written.load(Ordering::Acquire)]
    }

    /// Ends the input. The file is complete once [`Recorder::is_done`].
    pub fn close(&mut self) {
        self.sender = None;
    }

    /// Whether everything is written, or has failed.
    pub fn is_done(&self) -> bool {
        self.sender.is_none() && self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until everything is written and returns the path.
    pub fn finish(mut self) -> Result<PathBuf> {
        self.close();
        self.join()?;
        Ok(self.path.clone())
    }

    fn join(&mut self) -> Result<()> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(Error::write(&self.path)(std::io::Error::other("the encoder failed"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
