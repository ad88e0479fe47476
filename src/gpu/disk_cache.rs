//! Compiled kernels kept from one run to the next, where the driver can hand them out (Vulkan).
//!
//! A file in the user's cache folder, named by wgpu's key of the adapter. Nothing here can fail a run: what cannot be read, is not
//! what was written, or belongs to another driver is ignored; what cannot be written is not kept. `DASHPOT_NO_CACHE=1` turns it off.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a file begins with; after it the checksum, then what the driver gave.
const MAGIC: &[u8; 8] = b"dashpot1";
const HEAD: usize = MAGIC.len() + 8;

/// The driver's cache, and the file it is kept in.
#[derive(Debug)]
pub struct DiskCache {
    cache: wgpu::PipelineCache,
    file: PathBuf,
    has_grown: AtomicBool,
}

/// The device feature that it needs, if the adapter offers it and the user has nothing against it.
pub fn feature(adapter: &wgpu::Adapter) -> wgpu::Features {
    let is_off = std::env::var_os("DASHPOT_NO_CACHE").is_some_and(|value| !value.is_empty() && value != "0");
    let keyed = wgpu::util::pipeline_cache_key(&adapter.get_info()).is_some();
    if is_off || !keyed {
        wgpu::Features::empty()
    } else {
        adapter.features() & wgpu::Features::PIPELINE_CACHE
    }
}

impl DiskCache {
    /// The cache of an adapter on a device that was opened with [`feature`].
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let file = folder()?.join(wgpu::util::pipeline_cache_key(info)?);
        let kept = std::fs::read(&file).unwrap_or_default();
        let descriptor =
            wgpu::PipelineCacheDescriptor { label: Some("kernels"), data: unpacked(&kept), fallback: true };
        // SAFETY: the checksum says that these are the bytes which a driver gave for an adapter of the same key; wgpu and the
        // driver compare the version of the driver and start with an empty cache if it is another one.
        let cache = unsafe { device.create_pipeline_cache(&descriptor) };
        Some(DiskCache { cache, file, has_grown: AtomicBool::new(false) })
    }

    /// The driver's cache, for a pipeline that is compiled now.
    pub fn of_new_pipeline(&self) -> &wgpu::PipelineCache {
        self.has_grown.store(true, Ordering::Relaxed);
        &self.cache
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        if !self.has_grown.load(Ordering::Relaxed) {
            return;
        }
        if let Some(data) = self.cache.get_data() {
            // whoever runs at the same time keeps its own
            let _ = write(&self.file, &packed(&data));
        }
    }
}

/// Writes a file as a whole: another program sees the old one or the new one.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(file).is_ok_and(|kept| kept == bytes) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, file)).inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

/// The user's folder for what can be computed again.
fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("dashpot"))
}

fn packed(data: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &checksum(data).to_le_bytes(), data].concat()
}

/// The driver's bytes in a file that is whole.
fn unpacked(file: &[u8]) -> Option<&[u8]> {
    let (head, data) = file.split_at_checked(HEAD)?;
    (head[..MAGIC.len()] == MAGIC[..] && head[MAGIC.len()..] == checksum(data).to_le_bytes()).then_some(data)
}

/// Fowler, Noll and Vo's hash, 1a, 64 bits: the same on every machine and in every version.
fn checksum(data: &[u8]) -> u64 {
    data.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_of_ours_are_taken() {
        let data: Vec<u8> = (0..100).collect();
        let file = packed(&data);
        assert_eq!(unpacked(&file), Some(&data[..]));
        assert_eq!(unpacked(&[]), None);
        assert_eq!(unpacked(&data), None);
        (0..file.len()).for_each(|end| assert_eq!(unpacked(&file[..end]), None, "cut at {end}"));
        for k in 0..file.len() {
            let mut changed = file.clone();
            changed[k] ^= 4;
            assert_eq!(unpacked(&changed), None, "byte {k}");
        }
    }
}
