//! Surfaces of a render scene, bound to its buffers: simulated meshes and skins.

use super::RenderScene;
use crate::Result;
use crate::gpu::layout::Vertex;
use crate::view::memory::{indices, small_storage, storage};
use crate::view::pipelines::{PrepareKernel, Shown, SurfaceDraw};
use crate::view::renderer::Renderer;
use crate::view::visible_geometry::{Surface, VisibleGeometry};

impl RenderScene {
    /// Binds a simulated surface; nothing if it has no triangles.
    pub(super) fn bind_surface(
        &self,
        renderer: &Renderer,
        shown: Shown,
        surface: &Surface,
    ) -> Result<Option<SurfaceDraw>> {
        if surface.triangles.is_empty() {
            return Ok(None);
        }
        let (context, vertices) = (&self.context, &self.state.vertices);
        let normals = storage(context, "normals", &vec![[0f32; 4]; surface.corners.len()])?;
        let triangles = storage(context, "triangles", &surface.triangles)?;
        let starts = storage(context, "fan starts", &surface.starts)?;
        let fans = storage(context, "fans", &surface.fans)?;
        let corners = storage(context, "corners", &surface.corners)?;
        let buffers = [vertices, &triangles, &starts, &fans, &normals];
        let group = renderer.kernels().make(PrepareKernel::SurfaceNormals).bind(context, &buffers);
        let before = vec![(PrepareKernel::SurfaceNormals, group, surface.corners.len() as u32)];
        let values = &self.quantities.values;
        self.sheet(renderer, surface, [vertices, &corners, &normals, values], shown, before).map(Some)
    }

    /// Binds the skins, if any: their surface and vertex positions.
    pub(super) fn bind_skins(
        &self,
        renderer: &Renderer,
        skin: &VisibleGeometry,
    ) -> Result<Option<(SurfaceDraw, wgpu::Buffer)>> {
        let (count, drawn) = (skin.embedded_vertices.len(), skin.fine.corners.len());
        if count == 0 {
            return Ok(None);
        }
        let (context, solid) = (&self.context, &skin.solid);
        let (vertices, values) = (&self.state.vertices, &self.quantities.values);
        let embedded_vertices = small_storage(context, "embedded_vertices", &skin.embedded_vertices)?;
        let places = storage(context, "places of skins", &vec![Vertex::default(); count])?;
        let carried = storage(context, "values of skins", &vec![[0f32; 4]; count])?;
        let rest = storage(context, "rest places", &solid.rest)?;
        let tets = storage(context, "tetrahedra of skins", &solid.tets)?;
        let starts = storage(context, "tetrahedra of vertices", &solid.starts)?;
        let own = storage(context, "own tetrahedra", &solid.own)?;
        let cofactors = storage(context, "cofactors", &vec![[[0f32; 4]; 3]; solid.rest.len()])?;
        let corners = storage(context, "corners of skins", &skin.fine.corners)?;
        let rest_normals = storage(context, "rest normals", &skin.fine_normals)?;
        let normals = storage(context, "normals of skins", &vec![[0f32; 4]; drawn])?;
        let bind = |make, threads: usize, buffers: &[&wgpu::Buffer]| {
            (make, renderer.kernels().make(make).bind(context, buffers), threads as u32)
        };
        let before = vec![
            bind(
                PrepareKernel::SkinPositions,
                count,
                &[vertices, values, &embedded_vertices, &places, &carried],
            ),
            bind(
                PrepareKernel::SkinCofactors,
                solid.rest.len(),
                &[vertices, &rest, &tets, &starts, &own, &cofactors],
            ),
            bind(
                PrepareKernel::SkinNormals,
                drawn,
                &[&embedded_vertices, &corners, &rest_normals, &cofactors, &normals],
            ),
        ];
        let buffers = [&places, &corners, &normals, &carried];
        let sheet = self.sheet(renderer, &skin.fine, buffers, Shown::WithSkins, before)?;
        Ok(Some((sheet, places)))
    }

    /// The draw call of a surface from its vertex positions, drawn corners, normals and colour values.
    fn sheet(
        &self,
        renderer: &Renderer,
        surface: &Surface,
        [vertices, corners, normals, values]: [&wgpu::Buffer; 4],
        shown: Shown,
        before: Vec<(PrepareKernel, wgpu::BindGroup, u32)>,
    ) -> Result<SurfaceDraw> {
        let drawn = [&self.frame, vertices, corners, normals, values, &self.quantities.range];
        Ok(SurfaceDraw {
            shown,
            before,
            surface: renderer.programs().surface.bind(&self.context, &drawn),
            triangles: indices(&self.context, "drawn", surface.drawn.as_flattened())?,
            indices: 3 * surface.drawn.len() as u32,
        })
    }
}
