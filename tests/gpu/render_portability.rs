//! The renderer's shaders on every platform, within the limits that WebGPU promises everywhere.

use dashpot::gpu::shader::{Library, Source, files};
use dashpot::view::renderer::shaders;
use naga::back::{glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::collections::BTreeSet;
use std::path::Path;

fn module(name: &str) -> (naga::Module, ModuleInfo) {
    let (module, _) = Source::of(&Library::BuiltIn, &format!("render/{name}")).unwrap().module().unwrap();
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name} needs more than plain WGSL: {error:?}"));
    (module, info)
}

#[test]
fn every_shader_translates_for_every_platform() {
    // instances are known to Metal from 1.2 on
    let metal = msl::Options { lang_version: (2, 0), ..msl::Options::default() };
    for name in shaders() {
        let (module, info) = module(name);
        let options = spv::Options { fake_missing_bindings: true, ..spv::Options::default() };
        let words = spv::write_vec(&module, &info, &options, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(words[0], 0x0723_0203, "{name}: SPIR-V begins with its magic number");
        let (_, translated) = msl::write_string(&module, &info, &metal, &msl::PipelineOptions::default())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        translated.entry_point_names.into_iter().for_each(|entry| drop(entry.unwrap()));
        let (options, pipeline) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
        let mut text = String::new();
        let written = hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None);
        written.unwrap_or_else(|e| panic!("{name}: {e}")).entry_point_names.into_iter().for_each(|entry| {
            drop(entry.unwrap());
        });
        for entry in &module.entry_points {
            let options = glsl::Options { version: glsl::Version::new_gles(310), ..glsl::Options::default() };
            let pipeline = glsl::PipelineOptions {
                shader_stage: entry.stage,
                entry_point: entry.name.clone(),
                multiview: None,
            };
            let mut text = String::new();
            let policies = naga::proc::BoundsCheckPolicies::default();
            let writer = glsl::Writer::new(&mut text, &module, &info, &options, &pipeline, policies);
            writer.and_then(|mut writer| writer.write()).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[test]
fn every_shader_stays_within_the_limits_of_webgpu() {
    for name in shaders() {
        let (module, _) = module(name);
        let storage = module
            .global_variables
            .iter()
            .filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. }))
            .count();
        assert!(storage <= 8, "{name}: {storage} storage buffers");
        let threads = module.entry_points.iter().map(|entry| entry.workgroup_size.iter().product::<u32>());
        assert!(threads.max().unwrap_or(0) <= 256, "{name}");
    }
}

#[test]
fn every_file_is_used_by_a_shader() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let library = Library::Folder(root.clone());
    let of = |library: &Library| -> BTreeSet<String> {
        shaders().iter().flat_map(|name| files(library, &format!("render/{name}"))).collect()
    };
    assert_eq!(of(&library), of(&Library::BuiltIn), "what is compiled in is what is in the folder");
    let there = std::fs::read_dir(root.join("render")).unwrap();
    let there: BTreeSet<String> =
        there.map(|entry| format!("render/{}", entry.unwrap().file_name().into_string().unwrap())).collect();
    let used: BTreeSet<String> =
        of(&library).into_iter().filter(|file| file.starts_with("render/")).collect();
    assert_eq!(there, used);
}
