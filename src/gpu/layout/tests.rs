//! Every struct against its namesake in the shaders.

use super::{ExampleStage, FrontStage, Inner, Sizes, Step, arrays, bodies, small};
use crate::gpu::shader::{Library, Source};
use encase::ShaderType;

/// A struct as it crosses.
pub(crate) struct Sample {
    /// Its name in WGSL.
    pub name: &'static str,
    /// All of it.
    pub bytes: Vec<u8>,
    /// Each field's own bytes.
    pub fields: Vec<(&'static str, Vec<u8>)>,
}

/// Words 1, 2, 3, …
pub(crate) fn numbered(bytes: usize) -> Vec<u8> {
    (1..=bytes as u32 / 4).flat_map(u32::to_le_bytes).collect()
}

/// Every field must lie where naga says that the shader has it, and there must be nothing between them.
pub(crate) fn compare(shader: &str, samples: &[Sample]) {
    let (module, _) = Source::of(&Library::BuiltIn, shader).unwrap().module().unwrap();
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    for Sample { name, bytes, fields } in samples {
        let mut types = module.types.iter();
        let found = types.find(|(_, t)| t.name.as_deref() == Some(*name));
        let (handle, found) = found.unwrap_or_else(|| panic!("{name} is not in {shader}"));
        let naga::TypeInner::Struct { members, span } = &found.inner else { panic!("{name} is no struct") };
        assert_eq!(*span as usize, bytes.len(), "{name}");
        assert_eq!(layouter[handle].to_stride() as usize, bytes.len(), "{name}: stride of an array");
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let declared: Vec<&str> = members.iter().map(|m| m.name.as_deref().unwrap_or("")).collect();
        assert_eq!(declared, names, "{name}");
        let mut expected = vec![0; bytes.len()];
        for (member, (_, own)) in members.iter().zip(fields) {
            assert_eq!(layouter[member.ty].size as usize, own.len(), "{name}.{:?}", member.name);
            expected[member.offset as usize..][..own.len()].copy_from_slice(own);
        }
        assert_eq!(*bytes, expected, "{name}");
    }
}

#[test]
fn structs_lie_on_the_device_as_the_shaders_declare_them() {
    compare("step/predict", &arrays::samples());
    compare("step/predict", &bodies::samples());
    compare("step/predict", &small::samples());
}

#[test]
fn uniforms_obey_the_rules_of_uniforms() {
    Step::assert_uniform_compat();
    Sizes::assert_uniform_compat();
    Inner::assert_uniform_compat();
    FrontStage::assert_uniform_compat();
    ExampleStage::assert_uniform_compat();
}
