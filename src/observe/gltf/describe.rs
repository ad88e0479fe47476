//! The JSON of `motion.glb`.

use super::layout::{Layout, bounds, wide};
use crate::colour::{body_colour, to_linear};
use crate::observe::visible::Part;
use serde_json::Value;
use std::fmt::Write as _;

impl Layout {
    pub(super) fn describe(&mut self, parts: &[Part]) {
        let mut json = String::from(r#"{"asset":{"version":"2.0","generator":"Dashpot"},"#);
        let _ = write!(json, r#""extras":{{"vertices":{},"frames":"#, self.vertices);
        self.offsets.frames = json.len();
        let _ = write!(json, r#"{}}},"scene":0,"scenes":[{{"nodes":["#, wide("0"));
        listed(&mut json, 0..parts.len(), |json, p| json.push_str(&p.to_string()));
        json.push_str(r#"]}],"nodes":["#);
        listed(&mut json, parts.iter().enumerate(), |json, (p, part)| {
            let _ = write!(json, r#"{{"name":{},"mesh":{p}}}"#, quoted(&part.name));
        });
        json.push_str(r#"],"materials":["#);
        listed(&mut json, parts, |json, part| {
            let [r, g, b] = body_colour(part.body).map(|c| to_linear(f32::from(c) / 255.0));
            let colour = format!(r#""baseColorFactor":[{r},{g},{b},1]"#);
            let _ = write!(
                json,
                r#"{{"doubleSided":true,"pbrMetallicRoughness":{{{colour},"metallicFactor":0,"roughnessFactor":0.6}}}}"#
            );
        });
        self.describe_meshes(&mut json, parts);
        self.describe_accessors(&mut json, parts);
        self.describe_data(&mut json);
        if self.targets() > 0 {
            let times: usize = parts.iter().map(|part| kinds(part).len() + self.frames).sum();
            let _ = write!(
                json,
                r#","animations":[{{"name":"motion","samplers":[{{"input":{times},"output":{},"interpolation":"LINEAR"}}],"channels":["#,
                times + 1
            );
            listed(&mut json, 0..parts.len(), |json, p| {
                let _ = write!(json, r#"{{"sampler":0,"target":{{"node":{p},"path":"weights"}}}}"#);
            });
            json.push_str("]}]");
        }
        json.push('}');
        let padding = json.len().next_multiple_of(4) - json.len();
        json.push_str(&"   "[..padding]);
        self.json = json;
    }

    /// One mesh per body: its triangles and strands, sharing vertices and targets.
    fn describe_meshes(&self, json: &mut String, parts: &[Part]) {
        json.push_str(r#"],"meshes":["#);
        let mut next = 0;
        listed(json, parts.iter().enumerate(), |json, (p, part)| {
            let _ = write!(json, r#"{{"name":{},"primitives":["#, quoted(&part.name));
            let kinds = kinds(part);
            let first = next + kinds.len();
            listed(json, kinds.iter().enumerate(), |json, (k, (mode, _))| {
                let indices = next + k;
                let _ = write!(
                    json,
                    r#"{{"attributes":{{"POSITION":{first}}},"indices":{indices},"mode":{mode},"material":{p}"#
                );
                if self.targets() > 0 {
                    json.push_str(r#","targets":["#);
                    listed(json, 1..self.frames, |json, frame| {
                        let _ = write!(json, r#"{{"POSITION":{}}}"#, first + frame);
                    });
                    json.push(']');
                }
                json.push('}');
            });
            json.push_str("]}");
            next = first + self.frames;
        });
    }

    /// For every body its indices and its positions at every frame; finally the times and the weights.
    fn describe_accessors(&mut self, json: &mut String, parts: &[Part]) {
        json.push_str(r#"],"accessors":["#);
        let mut offset = 0;
        for (p, part) in parts.iter().enumerate() {
            for (_, count) in kinds(part) {
                let _ = write!(
                    json,
                    r#"{{"bufferView":0,"byteOffset":{offset},"componentType":5125,"count":{count},"type":"SCALAR"}},"#
                );
                offset += 4 * count;
            }
            for frame in 0..self.frames {
                let _ = write!(
                    json,
                    r#"{{"bufferView":1,"byteOffset":{},"componentType":5126,"count":{},"type":"VEC3","#,
                    12 * (frame * self.vertices + part.vertices.start),
                    part.vertices.len()
                );
                self.bounds[frame * parts.len() + p] = json.len();
                let _ = write!(json, "{}}},", bounds(&[[0.0; 3]]));
            }
        }
        if self.targets() == 0 {
            json.pop();
            return;
        }
        json.push_str(r#"{"bufferView":2,"componentType":5126,"type":"SCALAR","min":[0],"max":["#);
        self.offsets.last = json.len();
        let _ = write!(json, r#"{}],"count":"#, wide("0"));
        self.offsets.times = json.len();
        let _ =
            write!(json, r#"{}}},{{"bufferView":3,"componentType":5126,"type":"SCALAR","count":"#, wide("1"));
        self.offsets.weights = json.len();
        let _ = write!(json, "{}}}", wide(&self.targets().to_string()));
    }

    fn describe_data(&self, json: &mut String) {
        let _ = write!(
            json,
            r#"],"buffers":[{{"byteLength":{}}}],"bufferViews":[{{"name":"indices","buffer":0,"byteOffset":0,"byteLength":{},"target":34963}},{{"name":"positions","buffer":0,"byteOffset":{},"byteLength":{},"byteStride":12,"target":34962}}"#,
            self.data(),
            self.indices.len(),
            self.positions_at(),
            self.times_at() - self.positions_at()
        );
        if self.targets() > 0 {
            let views =
                [("times", self.times_at(), self.weights_at()), ("weights", self.weights_at(), self.data())];
            for (name, from, to) in views {
                let _ = write!(
                    json,
                    r#",{{"name":"{name}","buffer":0,"byteOffset":{from},"byteLength":{}}}"#,
                    to - from
                );
            }
        }
        json.push(']');
    }
}

/// Primitives of a body: glTF mode (4 triangles, 1 lines) and number of indices.
fn kinds(part: &Part) -> Vec<(usize, usize)> {
    let all = [(4, 3 * part.triangles.len()), (1, 2 * part.pieces.len())];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

/// Comma-separated items.
fn listed<I: IntoIterator>(json: &mut String, items: I, mut write: impl FnMut(&mut String, I::Item)) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            json.push(',');
        }
        write(json, item);
    }
}
