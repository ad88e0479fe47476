//! What the device's buffers hold. `shaders/shared/layout.wgsl` has the same structs; a test compares every field.
//!
//! Large arrays cross as they lie in memory (bytemuck). Uniforms and small structs are written by encase, which pads them as
//! WGSL does.

mod arrays;
mod bodies;
mod small;
#[cfg(test)]
pub(crate) mod tests;

pub use arrays::*;
pub use bodies::*;
pub use small::*;

use encase::internal::CreateFrom;
use encase::{ShaderSize, StorageBuffer};

/// What a buffer is an array of.
pub trait Item {
    /// Bytes from one to the next.
    const STRIDE: usize;
}

impl<T: bytemuck::Pod> Item for T {
    const STRIDE: usize = size_of::<T>();
}

/// A struct that encase writes and reads.
pub trait Small: Item + ShaderSize + CreateFrom + Default {
    /// As many bytes as it takes on the device.
    type Bytes: AsRef<[u8]>;

    /// Its bytes on the device.
    fn bytes(&self) -> Self::Bytes;
}

/// The bytes of an array on the device.
pub fn encode<T: Small>(items: &[T]) -> Vec<u8> {
    let mut all = Vec::with_capacity(items.len() * T::STRIDE);
    items.iter().for_each(|item| all.extend_from_slice(item.bytes().as_ref()));
    all
}

/// Item `k` of an array on the device.
pub fn decode<T: Small>(bytes: &[u8], k: usize) -> T {
    let own = &bytes[k * T::STRIDE..(k + 1) * T::STRIDE];
    // nothing can go wrong with as many bytes as it takes
    StorageBuffer::new(own).create().unwrap_or_default()
}

/// Structs of large arrays: they have no padding, or they do not compile.
macro_rules! array_structs {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident $(as $wgsl:ident)? { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
            $vis struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*

        /// A struct of each kind with a number in every word, for the test that compares them with the shaders'.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<$crate::gpu::layout::tests::Sample> {
            use $crate::gpu::layout::tests::{Sample, numbered};
            vec![$({
                let bytes = numbered(size_of::<$name>());
                let item: $name = bytemuck::pod_read_unaligned(&bytes);
                let fields = vec![$((stringify!($field), bytemuck::bytes_of(&item.$field).to_vec())),*];
                Sample { name: [$(stringify!($wgsl),)? stringify!($name)][0], bytes, fields }
            }),*]
        }
    };
}

/// Uniforms and small structs.
macro_rules! small_structs {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident $(as $wgsl:ident)? { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Default, encase::ShaderType)]
            $vis struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }

            impl $crate::gpu::layout::Item for $name {
                const STRIDE: usize = <Self as encase::ShaderSize>::SHADER_SIZE.get() as usize;
            }

            impl $crate::gpu::layout::Small for $name {
                type Bytes = [u8; <Self as $crate::gpu::layout::Item>::STRIDE];

                fn bytes(&self) -> Self::Bytes {
                    let mut buffer = encase::StorageBuffer::new([0; <Self as $crate::gpu::layout::Item>::STRIDE]);
                    let written = buffer.write(self);
                    debug_assert!(written.is_ok(), "as many bytes as it takes");
                    buffer.into_inner()
                }
            }
        )*

        /// A struct of each kind with a number in every word, for the test that compares them with the shaders'.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<$crate::gpu::layout::tests::Sample> {
            use $crate::gpu::layout::tests::{Sample, numbered};
            use $crate::gpu::layout::{Item, Small, decode};
            vec![$({
                let item: $name = decode(&numbered($name::STRIDE), 0);
                let fields = vec![$((stringify!($field), bytemuck::bytes_of(&item.$field).to_vec())),*];
                Sample { name: [$(stringify!($wgsl),)? stringify!($name)][0], bytes: item.bytes().to_vec(), fields }
            }),*]
        }
    };
}

pub(crate) use {array_structs, small_structs};

/// Numbers of laws of elasticity.
pub mod law {
    /// Projections; of triangles limits.
    pub const PROJECTIVE: u32 = 0;
    /// St. Venant–Kirchhoff's.
    pub const ST_VENANT_KIRCHHOFF: u32 = 1;
    /// Stable neo-Hookean.
    pub const NEO_HOOKEAN: u32 = 2;
    /// Corotated linear.
    pub const COROTATED_LINEAR: u32 = 3;
    /// Valanis and Landel's with the curves that begin at the first piece; those at piece k have this and k.
    pub const VALANIS_LANDEL: u32 = 4;
}

/// Numbers that [`BodyWish::flags`] and [`BodyAim::known`] are sums of.
pub mod conserved {
    /// Nothing holds the body.
    pub const FREE: u32 = 1;
    /// Nothing of it is corrected.
    pub const ALONE: u32 = 2;
    /// P, L and H are held.
    pub const HOLDS: [u32; 3] = [4, 8, 16];
    /// The user wishes P, L or H.
    pub const WISHES: [u32; 3] = [32, 64, 128];
    /// What was conserved so far counts no more.
    pub const FORGETS: u32 = 256;
    /// C_H is taken without the rigid motion.
    pub const WITHOUT_RIGID: u32 = 512;
    /// γ lets its energy decay.
    pub const DECAYS: u32 = 1024;
    /// P and L are kept from the step before.
    pub const KNOWS_MOMENTA: u32 = 1;
    /// H is kept from the step before.
    pub const KNOWS_ENERGY: u32 = 2;
}

/// Numbers that [`Step::filter_mode`] is a sum of.
pub mod mode {
    /// Impulses of an edge lie along it.
    pub const PROJECTED: u32 = 1;
    /// Impulses lie on the lines from the centre.
    pub const RADIAL: u32 = 2;
    /// Impulses are sums of those along edges, scaled so that none is larger than before, and so that no energy is added.
    pub const SCALED: u32 = 4;
    /// The mean of a body's changes is taken from them.
    pub const BALANCED: u32 = 8;
}

/// Threads of a workgroup.
pub const LANES: u32 = 64;
/// Items that a workgroup of a reduction takes.
pub const BLOCK: u32 = 256;
/// Numbers that the gradient of a tetrahedron takes: the rows of corners 1 to 3 (N), and its energy (J). Corner 0 has minus the sum of the rows.
pub const TET_NUMBERS: u32 = 10;
/// Sums along the shapes of a group: as many as it may have.
pub const SHAPES: usize = crate::step::resident_examples::MOST_SHAPES;
/// Numbers in a partial sum; the last one is a minimum, the others are sums.
pub const SLOTS: usize = 16;
