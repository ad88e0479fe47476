//! The same two tetrahedra, (0 1 2 3) and (1 2 3 4), in every format that can hold them, and small cloths.

/// Name of the file, contents.
pub type Sample = (&'static str, &'static str);

/// Two tetrahedra, the second wound the wrong way; TetGen's vertices stand in [`NODE`].
pub const SOLIDS: [Sample; 8] = [
    (
        "a.mesh",
        "MeshVersionFormatted 1\n# two tetrahedra\nDimension\n3\n\nVertices\n5\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n\
         1 1 1 1\nCorners\n1\n1\nTriangles 1\n1 2 3 7\nTetrahedra\n2\n1 2 3 4 0\n2 3 5 4 0\nEnd\n",
    ),
    (
        "a.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"solid\"\n$EndPhysicalNames\n$Nodes\n5\n10 0 0 0\n\
         20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 20 30\n\
         3 4 2 0 1 10 20 30 40\n4 4 3 0 1 9 20 30 50 40\n$EndElements\n",
    ),
    (
        "b.msh",
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 5 1 5\n\
         2 1 1 2\n1\n2\n0 0 0 0.5 0.5\n1 0 0 0.5 0.5\n3 1 0 3\n3\n4\n5\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n\
         2 3 1 3\n2 1 2 1\n1 1 2 3\n3 1 4 2\n2 1 2 3 4\n3 2 3 5 4\n$EndElements\n",
    ),
    ("a.ele", "# two\n2 4 1\n1 1 2 3 4 7\n2 2 3 5 4 7\n"),
    (
        "a.veg",
        "# Vega\n*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n\
         2 2 3 5 4\n\n*MATERIAL soft\nENU, 1000, 1e5, 0.4\n*REGION\nallElements, soft\n",
    ),
    (
        "a.vtk",
        "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0\n0 1 0 0 0 1 1 1 1\n\
         CELLS 3 13\n2 0 1\n4 0 1 2 3\n4 1 2 4 3\n\nCELL_TYPES 3\n3\n10\n10\nPOINT_DATA 5\nSCALARS t float\n\
         LOOKUP_TABLE default\n0 0 0 0 0\n",
    ),
    (
        "b.vtk",
        "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0\n\
         0 0 1 1 1 1\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\nCELLS 3 8\n\
         OFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 4 3\nCELL_TYPES 2\n10\n10\n",
    ),
    ("zero.ele", "2 4 0\n0 0 1 2 3\n1 1 2 4 3\n"),
];

/// The partners of `a.ele` and `zero.ele`.
pub const NODE: [Sample; 2] = [
    ("a.node", "5 3 0 1\n1 0 0 0 1\n2 1 0 0 1\n# a comment\n3 0 1 0 1\n4 0 0 1 1\n5 1 1 1 1\n"),
    ("zero.node", "5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n"),
];

/// A square and a triangle on its right: three triangles in all, five vertices.
pub const CLOTHS: [Sample; 4] = [
    (
        "c.obj",
        "# cloth\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nvt 0 0\nvn 0 0 1\ns off\n\
         f 1/1/1 2/1/1 3//1 4\nf -4/1 -1 -3\n",
    ),
    (
        "c.vtk",
        "# vtk DataFile Version 3.0\ncloth\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n0 0 0 1 0 0 1 1 0 0 1 0 2 0 0\n\
         VERTICES 1 2\n1 0\nPOLYGONS 2 9\n4 0 1 2 3\n3 1 4 2\n",
    ),
    (
        "c.ply",
        "ply\nformat ascii 1.0\ncomment cloth\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
         property uchar red\nelement face 2\nproperty uchar flag\nproperty list uchar int vertex_indices\nend_header\n\
         0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n2 0 0 9\n1 4 0 1 2 3\n1 3 1 4 2\n",
    ),
    (
        "c.mesh",
        "MeshVersionFormatted\n2\nDimension 2\nVertices 5\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\nQuadrilaterals 1\n1 2 3 4 0\n\
         Triangles 1\n2 5 3 0\nEnd\n",
    ),
];

/// Puts every sample into `folder`.
pub fn write_all(folder: &std::path::Path) {
    for (name, contents) in SOLIDS.iter().chain(&NODE).chain(&CLOTHS) {
        std::fs::write(folder.join(name), contents).expect("sample written");
    }
}
