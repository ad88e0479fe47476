//! The encoders.

use super::Format;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Encodes pictures one after the other.
pub(super) trait Encoder: Send {
    /// Adds a picture, four bytes per pixel.
    fn push(&mut self, rgba: Vec<u8>) -> Result<()>;
    /// Completes the file.
    fn finish(self: Box<Self>) -> Result<()>;
}

pub(super) fn open(format: Format, path: &Path, size: [u32; 2], rate: f64) -> Result<Box<dyn Encoder>> {
    let rate = if rate.is_finite() { rate.clamp(1e-3, 1e3) } else { 30.0 };
    Ok(match format {
        Format::Gif => Box::new(Gif::open(path, size, rate)?),
        Format::Apng => Box::new(Apng::open(path, size, rate)?),
        Format::Mp4 => Box::new(Film::open(path, size, rate)?),
        Format::Sequence => Box::new(Sequence::open(path, size)?),
    })
}

fn other(path: &Path) -> impl FnOnce(String) -> Error {
    let failed = Error::write(path);
    move |message| failed(std::io::Error::other(message))
}

struct Gif {
    path: PathBuf,
    encoder: gif::Encoder<BufWriter<File>>,
    size: [u16; 2],
    /// Time between pictures (s), and the accumulated rounding to hundredths.
    interval: f64,
    left: f64,
}

impl Gif {
    fn open(path: &Path, [width, height]: [u32; 2], rate: f64) -> Result<Self> {
        let narrow = |pixels: u32| {
            u16::try_from(pixels).map_err(|_| other(path)(format!("{pixels} pixels are too many for a GIF")))
        };
        let size = [narrow(width)?, narrow(height)?];
        let file = BufWriter::new(File::create(path).map_err(Error::write(path))?);
        let mut encoder =
            gif::Encoder::new(file, size[0], size[1], &[]).map_err(|e| other(path)(e.to_string()))?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|e| other(path)(e.to_string()))?;
        Ok(Gif { path: path.into(), encoder, size, interval: 1.0 / rate, left: 0.0 })
    }
}

impl Encoder for Gif {
    fn push(&mut self, mut rgba: Vec<u8>) -> Result<()> {
        let mut frame = gif::Frame::from_rgba_speed(self.size[0], self.size[1], &mut rgba, 10);
        let due = 100.0 * self.interval + self.left;
        // browsers slow delays below two hundredths down to ten
        let delay = due.round().clamp(2.0, f64::from(u16::MAX));
        self.left = (due - delay).clamp(-1.0, 1.0);
        frame.delay = delay as u16;
        self.encoder.write_frame(&frame).map_err(|e| other(&self.path)(e.to_string()))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let mut file = self.encoder.into_inner().map_err(|e| other(&self.path)(e.to_string()))?;
        file.flush().map_err(Error::write(&self.path))
    }
}

struct Apng {
    path: PathBuf,
    writer: png::Writer<BufWriter<File>>,
    pictures: u32,
}

impl Apng {
    fn open(path: &Path, [width, height]: [u32; 2], rate: f64) -> Result<Self> {
        let file = BufWriter::new(File::create(path).map_err(Error::write(path))?);
        let mut encoder = png::Encoder::new(file, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let milliseconds = (1000.0 / rate).round().clamp(1.0, 65535.0) as u16;
        // the number of pictures is patched in at the end
        let set = encoder.set_animated(u32::MAX >> 1, 0);
        let set = set.and_then(|()| encoder.set_frame_delay(milliseconds, 1000));
        let writer = set.and_then(|()| encoder.write_header()).map_err(|e| other(path)(e.to_string()))?;
        Ok(Apng { path: path.into(), writer, pictures: 0 })
    }
}

impl Encoder for Apng {
    fn push(&mut self, rgba: Vec<u8>) -> Result<()> {
        self.pictures += 1;
        self.writer.write_image_data(&rgba).map_err(|e| other(&self.path)(e.to_string()))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Apng { path, writer, pictures } = *self;
        writer.finish().map_err(|e| other(&path)(e.to_string()))?;
        set_count(&path, pictures).map_err(Error::write(&path))
    }
}

/// Writes the final number of pictures into the acTL chunk, with its checksum.
fn set_count(path: &Path, pictures: u32) -> std::io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(512).read_to_end(&mut head)?;
    let Some(at) = head.windows(4).position(|name| name == b"acTL") else {
        return Err(std::io::Error::other("no acTL chunk"));
    };
    let mut chunk = head[at..at + 12].to_vec();
    chunk[4..8].copy_from_slice(&pictures.to_be_bytes());
    chunk.extend(checksum(&chunk).to_be_bytes());
    file.seek(SeekFrom::Start(at as u64))?;
    file.write_all(&chunk)
}

/// CRC-32 of PNG: the remainder by x³² + x²⁶ + x²³ + … + 1, bits reflected.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _: u32| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

pub(super) fn has_ffmpeg() -> bool {
    let quiet = || Stdio::null();
    let started = Command::new("ffmpeg").arg("-version").stdout(quiet()).stderr(quiet()).status();
    started.is_ok_and(|status| status.success())
}

struct Film {
    path: PathBuf,
    ffmpeg: Child,
}

impl Film {
    fn open(path: &Path, [width, height]: [u32; 2], rate: f64) -> Result<Self> {
        Format::Mp4.available().map_err(other(path))?;
        let mut command = Command::new("ffmpeg");
        command.args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba"]);
        command.args(["-s", &format!("{width}x{height}"), "-r", &format!("{rate}"), "-i", "-"]);
        // players expect 4:2:0 subsampling, so sizes must be even
        command.args([
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-pix_fmt",
            "yuv420p",
            "-crf",
            "18",
            "-f",
            "mp4",
        ]);
        // a signal of the terminal ends the run after the frame, and the film with it
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.arg(path).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(Film { path: path.into(), ffmpeg: command.spawn().map_err(Error::write(path))? })
    }
}

impl Encoder for Film {
    fn push(&mut self, rgba: Vec<u8>) -> Result<()> {
        match &mut self.ffmpeg.stdin {
            Some(pipe) => pipe.write_all(&rgba).map_err(Error::write(&self.path)),
            None => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Film { path, mut ffmpeg } = *self;
        drop(ffmpeg.stdin.take());
        let ended = ffmpeg.wait_with_output().map_err(Error::write(&path))?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(other(&path)(format!("ffmpeg failed: {}", said.lines().last().unwrap_or("no error message"))))
    }
}

struct Sequence {
    folder: PathBuf,
    size: [u32; 2],
    number: usize,
}

impl Sequence {
    fn open(folder: &Path, size: [u32; 2]) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
        Ok(Sequence { folder: folder.into(), size, number: 0 })
    }
}

impl Encoder for Sequence {
    fn push(&mut self, rgba: Vec<u8>) -> Result<()> {
        let path = self.folder.join(format!("frame_{:05}.png", self.number));
        self.number += 1;
        let [width, height] = self.size;
        super::super::canvas::Picture { width, height, rgba }.write_png(&path)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
