//! Commands that move bytes, other than kernels.

use super::{Command, Stream};

impl Stream {
    /// Records a command that moves bytes. Returns how many of the staged uploads, from `offset` on, it took.
    pub(super) fn copy_bytes(
        &self,
        command: &Command,
        uploads: Option<&wgpu::Buffer>,
        offset: u64,
        encoder: &mut wgpu::CommandEncoder,
    ) -> u64 {
        match (command, uploads) {
            (Command::Upload(to, bytes), Some(uploads)) => {
                let size = bytes.len() as u64;
                encoder.copy_buffer_to_buffer(uploads, offset, self.arena.get(*to), 0, size);
                return size;
            }
            (Command::Clear(buffer, bytes), _) => {
                encoder.clear_buffer(self.arena.get(*buffer), 0, Some(*bytes))
            }
            (Command::Copy(from, to), _) => {
                let [source, sink] = [*from, *to].map(|buffer| self.arena.get(buffer));
                encoder.copy_buffer_to_buffer(source, 0, sink, 0, self.arena.length(*from));
            }
            (Command::Download(from, to), _) => {
                encoder.copy_buffer_to_buffer(self.arena.get(*from), 0, to.buffer(), 0, to.bytes());
            }
            _ => {}
        }
        0
    }

    /// The bytes of all uploads, one after the other, in one buffer; `None` without any. (wgpu's `StagingBelt` panics on a lost device.)
    pub(super) fn stage_uploads(&self, commands: &[Command]) -> Option<wgpu::Buffer> {
        let uploads = commands.iter().filter_map(|command| match command {
            Command::Upload(_, bytes) => Some(&bytes[..]),
            _ => None,
        });
        let all: Vec<u8> = uploads.flatten().copied().collect();
        let staged = (!all.is_empty()).then(|| {
            self.context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("uploads"),
                size: all.len() as u64,
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        if let Ok(mut view) = staged.get_mapped_range_mut(..) {
            view.copy_from_slice(&all);
        }
        staged.unmap();
        Some(staged)
    }
}
