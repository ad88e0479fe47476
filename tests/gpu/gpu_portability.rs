//! Every kernel on every platform: translated for Vulkan, Metal, Direct3D and OpenGL ES, within the limits that WebGPU
//! promises everywhere.

use crate::common;
use dashpot::gpu::figures::SHADERS;
use dashpot::gpu::kernel::KERNELS;
use dashpot::gpu::shader::{FOLDERS, Library, Source, files};
use naga::back::{glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::collections::BTreeSet;
use std::path::Path;

/// Limits of a compute stage that every WebGPU device has.
const STORAGE_BUFFERS: usize = 8;
const UNIFORM_BUFFERS: usize = 12;
const WORKGROUP_MEMORY: u32 = 16384;
const WORKGROUP_SIZE: u32 = 256;

/// The files of all kernels: those of a step, and those that measure an adapter.
fn kernels() -> impl Iterator<Item = &'static str> {
    KERNELS.iter().map(|kernel| kernel.file).chain(SHADERS)
}

/// The kernel, validated without any capability beyond the language's own: no f64, no subgroups, no float atomics.
fn module(file: &str) -> (naga::Module, ModuleInfo) {
    let (module, _) = Source::of(&Library::BuiltIn, file).unwrap().module().unwrap();
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{file} needs more than plain WGSL: {error:?}"));
    (module, info)
}

fn to_glsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, glsl::Error> {
    let options = glsl::Options { version: glsl::Version::new_gles(310), ..glsl::Options::default() };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".into(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = naga::proc::BoundsCheckPolicies::default();
    glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies)?.write()?;
    Ok(text)
}

fn to_hlsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, hlsl::Error> {
    let (options, pipeline) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
    let mut text = String::new();
    let reflection = hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None)?;
    reflection.entry_point_names.into_iter().for_each(|name| drop(name.unwrap()));
    Ok(text)
}

#[test]
fn every_kernel_translates_for_every_platform() {
    for name in kernels() {
        let (module, info) = module(name);
        // bindings that are missing here would be made up
        let options = spv::Options { fake_missing_bindings: true, ..spv::Options::default() };
        let words = spv::write_vec(&module, &info, &options, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(words[0], 0x0723_0203, "{name}: SPIR-V begins with its magic number");
        capabilities_are_plain(name, &words);
        let (metal, translated) =
            msl::write_string(&module, &info, &msl::Options::default(), &msl::PipelineOptions::default())
                .unwrap_or_else(|e| panic!("{name}: {e}"));
        translated.entry_point_names.into_iter().for_each(|entry| drop(entry.unwrap()));
        assert!(metal.contains("kernel void"), "{name}: {metal}");
        let direct3d = to_hlsl(&module, &info).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(direct3d.contains("[numthreads("), "{name}: {direct3d}");
        let gl = to_glsl(&module, &info).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(gl.starts_with("#version 310 es") && gl.contains("void main()"), "{name}: {gl}");
        // nothing that the kernel binds is left out
        for (_, variable) in module.global_variables.iter().filter(|(_, v)| v.binding.is_some()) {
            let (bound, called) = (variable.binding.unwrap().binding, variable.name.as_deref().unwrap());
            assert!(metal.contains(called) && direct3d.contains(called), "{name}: {called} is not used");
            assert!(gl.contains(&format!("_group_0_binding_{bound}_cs")), "{name}: {called} is not used");
        }
    }
}

/// OpCapability is instruction 17; a plain compute shader declares Shader (1) and nothing else.
fn capabilities_are_plain(name: &str, words: &[u32]) {
    let mut at = 5;
    let mut declared = Vec::new();
    while at < words.len() {
        let (length, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        assert!(length > 0, "{name}: an instruction without length");
        if opcode == 17 {
            declared.push(words[at + 1]);
        }
        at += length;
    }
    assert_eq!(declared, [1], "{name}: capabilities of the SPIR-V");
}

#[test]
fn every_kernel_stays_within_the_limits_of_webgpu() {
    for name in kernels() {
        let (module, _) = module(name);
        let count = |wanted: fn(&naga::AddressSpace) -> bool| {
            module.global_variables.iter().filter(|(_, variable)| wanted(&variable.space)).count()
        };
        let storage = count(|space| matches!(space, naga::AddressSpace::Storage { .. }));
        let uniform = count(|space| matches!(space, naga::AddressSpace::Uniform));
        assert!(storage <= STORAGE_BUFFERS, "{name}: {storage} storage buffers");
        assert!(uniform <= UNIFORM_BUFFERS, "{name}: {uniform} uniform buffers");
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
        let memory: u32 = shared.map(|(_, variable)| layouter[variable.ty].size.next_multiple_of(16)).sum();
        assert!(memory <= WORKGROUP_MEMORY, "{name}: {memory} bytes of workgroup memory");
        assert_eq!(module.entry_points.len(), 1, "{name}");
        let entry = &module.entry_points[0];
        assert_eq!((entry.name.as_str(), entry.stage), ("main", naga::ShaderStage::Compute), "{name}");
        let threads: u32 = entry.workgroup_size.iter().product();
        assert!(threads <= WORKGROUP_SIZE, "{name}: {threads} threads in a workgroup");
    }
}

#[test]
fn the_device_is_opened_with_the_limits_of_webgpu() {
    let Some(context) = common::context() else { return };
    let opened = context.device.limits();
    let allowed = wgpu::Limits::default();
    // only buffers may be larger
    let same = wgpu::Limits {
        max_buffer_size: allowed.max_buffer_size,
        max_storage_buffer_binding_size: allowed.max_storage_buffer_binding_size,
        ..opened
    };
    assert_eq!(same, allowed);
    // neither is needed: a clock, and kernels kept for the next run
    let beyond = context.device.features() - wgpu::Features::TIMESTAMP_QUERY - wgpu::Features::PIPELINE_CACHE;
    assert!(beyond.is_empty(), "{beyond:?}");
}

#[test]
fn every_file_of_the_shaders_is_used_by_a_kernel() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let library = Library::Folder(root.clone());
    let used: BTreeSet<String> = kernels().flat_map(|file| files(&library, file)).collect();
    let built_in: BTreeSet<String> = kernels().flat_map(|file| files(&Library::BuiltIn, file)).collect();
    assert_eq!(used, built_in, "what is compiled in is what is in the folder");
    let mut there = BTreeSet::new();
    for folder in FOLDERS.into_iter().filter(|folder| *folder != "render") {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".wgsl") {
                there.insert(format!("{folder}/{name}"));
            }
        }
    }
    assert_eq!(there, used);
}
