//! glTF 2.0, `.gltf` and `.glb`: the triangles of all meshes in the scene, where its nodes put them.

use super::Cells;
use super::text::{MAX_COORDINATE, Text, contents, show};
use crate::Vec3;
use crate::error::InputError;
use base64::engine::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT;
use nalgebra::{Matrix4, Quaternion, UnitQuaternion};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// Nodes of a scene may hang this deep, which also ends circles.
const DEEPEST: usize = 64;
/// Triangles are limited: one mesh may be placed many times.
const MOST: usize = 20_000_000;

struct Reader<'t, 'a> {
    text: &'t Text<'a>,
    json: Value,
    buffers: Vec<Vec<u8>>,
    /// Which nodes have been read.
    read: Vec<bool>,
    cells: Cells,
}

/// Reads a glTF file of either kind.
pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let bytes = text.all_bytes();
    let (json, binary) = if bytes.starts_with(b"glTF") { chunks(text, bytes)? } else { (bytes, None) };
    let json: Value = serde_json::from_slice(json)
        .map_err(|e| InputError::at(text.file(), e.line().max(1), format!("not the JSON of a glTF: {e}")))?;
    let mut reader = Reader { text, json, buffers: Vec::new(), read: Vec::new(), cells: Cells::default() };
    reader.read = vec![false; reader.list("nodes").len()];
    if let Some(name) = reader.list("extensionsRequired").first() {
        return Err(text.fault(format!("needs the extension {name}, which is not read")));
    }
    reader.load_buffers(binary)?;
    for root in reader.roots() {
        reader.node(&root, Matrix4::identity(), 0)?;
    }
    Ok(reader.cells)
}

/// The JSON and the data of a `.glb`.
fn chunks<'a>(text: &Text<'_>, bytes: &'a [u8]) -> Result<(&'a [u8], Option<&'a [u8]>), InputError> {
    let cut_off = || text.fault("the .glb file is cut off");
    let chunk = |at: usize| -> Option<(&'a [u8], &'a [u8])> {
        let head = bytes.get(at..at + 8)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        Some((&head[4..], bytes.get(at + 8..)?.get(..length)?))
    };
    let (kind, json) = chunk(12).ok_or_else(cut_off)?;
    if kind != b"JSON" {
        return Err(text.fault("the first chunk of the .glb file is not JSON"));
    }
    let next = 20 + json.len();
    match chunk(next) {
        Some((b"BIN\0", data)) => Ok((json, Some(data))),
        Some(_) => Ok((json, None)),
        None if next + 8 > bytes.len() => Ok((json, None)),
        None => Err(cut_off()),
    }
}

impl Reader<'_, '_> {
    fn list(&self, name: &str) -> &[Value] {
        self.json[name].as_array().map_or(&[], Vec::as_slice)
    }

    fn item(&self, list: &str, index: &Value) -> Result<&Value, InputError> {
        let found = index.as_u64().and_then(|i| self.list(list).get(usize::try_from(i).ok()?));
        found.ok_or_else(|| self.text.fault(format!("there is no {list}[{index}]")))
    }

    fn load_buffers(&mut self, binary: Option<&[u8]>) -> Result<(), InputError> {
        for (b, buffer) in self.list("buffers").to_vec().iter().enumerate() {
            let bytes = match buffer["uri"].as_str() {
                None => binary.unwrap_or_default().to_vec(),
                Some(uri) if uri.starts_with("data:") => {
                    let data = uri.split_once(',').map_or("", |(_, data)| data);
                    let fault = |e| self.text.fault(format!("buffers[{b}] is not base64: {e}"));
                    STANDARD_PAD_INDIFFERENT.decode(data).map_err(fault)?
                }
                Some(uri) => contents(&self.beside(uri)?)?,
            };
            self.buffers.push(bytes);
        }
        Ok(())
    }

    /// A file that the glTF names: in its folder or below. A mesh from elsewhere must not make us read any other file.
    fn beside(&self, uri: &str) -> Result<PathBuf, InputError> {
        let name = uri.replace("%20", " ");
        let is_below = Path::new(&name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let folder = self.text.file().parent().unwrap_or(Path::new(""));
        let path = folder.join(&name);
        let real = |path: &Path| path.canonicalize().ok();
        let here = if folder == Path::new("") { Path::new(".") } else { folder };
        // a link may lead out of it as well
        let leads_out = real(&path).zip(real(here)).is_some_and(|(path, folder)| !path.starts_with(folder));
        match !is_below || name.contains(':') || leads_out {
            true => Err(self.text.fault(format!(
                "the buffer {} is not in the folder of the file or below",
                show(uri.as_bytes())
            ))),
            false => Ok(path),
        }
    }

    /// The nodes of the scene; without one, every node that no other has as a child.
    fn roots(&self) -> Vec<Value> {
        let scene = &self.list("scenes").get(self.json["scene"].as_u64().unwrap_or(0) as usize);
        if let Some(nodes) = scene.and_then(|scene| scene["nodes"].as_array()) {
            return nodes.clone();
        }
        let nodes = self.list("nodes");
        let children: Vec<&Value> = nodes.iter().filter_map(|n| n["children"].as_array()).flatten().collect();
        (0..nodes.len()).map(Value::from).filter(|n| !children.contains(&n)).collect()
    }

    fn node(&mut self, index: &Value, parent: Matrix4<f64>, depth: usize) -> Result<(), InputError> {
        if depth > DEEPEST {
            return Err(self.text.fault("the nodes are nested too deeply"));
        }
        let node = self.item("nodes", index)?.clone();
        let known = index.as_u64().and_then(|index| self.read.get_mut(index as usize));
        if known.is_some_and(|read| std::mem::replace(read, true)) {
            return Err(self
                .text
                .fault(format!("nodes[{index}] hangs in two places; nodes must form trees")));
        }
        let place = parent * self.placement(&node)?;
        if !node["mesh"].is_null() {
            let primitives = self.item("meshes", &node["mesh"])?["primitives"].clone();
            for primitive in primitives.as_array().map_or(&[][..], Vec::as_slice) {
                self.primitive(primitive, &place)?;
            }
        }
        for child in node["children"].as_array().map_or(&[][..], Vec::as_slice) {
            self.node(child, place, depth + 1)?;
        }
        Ok(())
    }

    /// A matrix, or translation, rotation and scale.
    fn placement(&self, node: &Value) -> Result<Matrix4<f64>, InputError> {
        let numbers =
            |name: &str| -> Option<Vec<f64>> { node[name].as_array()?.iter().map(Value::as_f64).collect() };
        if let Some(matrix) = numbers("matrix").filter(|m| m.len() == 16) {
            return Ok(Matrix4::from_column_slice(&matrix));
        }
        let mut place = Matrix4::identity();
        if let Some(&[x, y, z]) = numbers("scale").as_deref() {
            place = Matrix4::new_nonuniform_scaling(&Vec3::new(x, y, z));
        }
        if let Some(&[x, y, z, w]) = numbers("rotation").as_deref() {
            place = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).to_homogeneous() * place;
        }
        if let Some(&[x, y, z]) = numbers("translation").as_deref() {
            place = Matrix4::new_translation(&Vec3::new(x, y, z)) * place;
        }
        Ok(place)
    }

    fn primitive(&mut self, primitive: &Value, place: &Matrix4<f64>) -> Result<(), InputError> {
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        if !(4..=6).contains(&mode) {
            self.cells.ignore("primitives without triangles");
            return Ok(());
        }
        let numbers = self.accessor(&primitive["attributes"]["POSITION"], 3)?;
        let first = self.cells.positions.len();
        let count = numbers.len() / 3;
        for (v, corner) in numbers.chunks_exact(3).enumerate() {
            let point = place * nalgebra::Vector4::new(corner[0], corner[1], corner[2], 1.0);
            if point.iter().any(|x| x.is_nan() || x.abs() > MAX_COORDINATE) {
                return Err(self.text.fault(format!("vertex {v} of a mesh is not made of usable numbers")));
            }
            self.cells.positions.push(point.xyz());
        }
        let corners: Vec<u32> = if primitive["indices"].is_null() {
            (0..count as u32).collect()
        } else {
            self.accessor(&primitive["indices"], 1)?.iter().map(|&i| i as u32).collect()
        };
        if let Some(beyond) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(self.text.fault(format!("there is no vertex {beyond} in a mesh of {count}")));
        }
        let corner = |i: usize| first as u32 + corners[i];
        let last = corners.len().saturating_sub(2);
        match mode {
            4 => self.cells.triangles.extend((0..last).step_by(3).map(|i| [0, 1, 2].map(|k| corner(i + k)))),
            5 => {
                self.cells.triangles.extend((0..last).map(|i| [i, i + 1 + i % 2, i + 2 - i % 2].map(corner)))
            }
            _ => self.cells.triangles.extend((0..last).map(|i| [0, i + 1, i + 2].map(corner))),
        }
        if self.cells.triangles.len() > MOST || self.cells.positions.len() > MOST {
            return Err(self.text.fault(format!("the scene has more than {MOST} triangles or vertices")));
        }
        Ok(())
    }

    /// The numbers of an accessor, `width` of them an element.
    fn accessor(&self, index: &Value, width: usize) -> Result<Vec<f64>, InputError> {
        let accessor = self.item("accessors", index)?;
        let fault = |what: &str| self.text.fault(format!("accessors[{index}] {what}"));
        let whole = |value: &Value| value.as_u64().and_then(|x| usize::try_from(x).ok());
        if !accessor["sparse"].is_null() {
            return Err(fault("is sparse, which is not read"));
        }
        let of = if width == 3 { "VEC3" } else { "SCALAR" };
        if accessor["type"] != of {
            return Err(fault(&format!("is not of type {of}")));
        }
        let (size, number): (usize, fn(&[u8]) -> f64) = match accessor["componentType"].as_u64() {
            Some(5121) => (1, |b| f64::from(b[0])),
            Some(5123) => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
            Some(5125) => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            Some(5126) => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            _ => {
                let kind = show(accessor["componentType"].to_string().as_bytes());
                return Err(fault(&format!("has componentType {kind}, which is not read")));
            }
        };
        let count = whole(&accessor["count"]).ok_or_else(|| fault("has no count"))?;
        let view = self.item("bufferViews", &accessor["bufferView"])?;
        let buffer =
            whole(&view["buffer"]).and_then(|b| self.buffers.get(b)).ok_or_else(|| fault("has no buffer"))?;
        let start = whole(&view["byteOffset"])
            .unwrap_or(0)
            .saturating_add(whole(&accessor["byteOffset"]).unwrap_or(0));
        let stride = whole(&view["byteStride"]).unwrap_or(size * width).max(size * width);
        let needed = count.saturating_sub(1).saturating_mul(stride).saturating_add(size * width);
        let Some(bytes) = buffer.get(start..).filter(|bytes| count == 0 || bytes.len() >= needed) else {
            return Err(fault("reaches beyond the end of its buffer: is the file cut off?"));
        };
        let element = |i: usize| (0..width).map(move |k| number(&bytes[i * stride + k * size..]));
        Ok((0..count).flat_map(element).collect())
    }
}
