"""Reads every file that a run exported with programs that are not ours, and compares them with each other.

    check_exports.py RUN EVERY BODY REST SKIN

RUN is the folder of a run with --export obj,ply,vtk,pc2,mdd,gltf,npy and --every EVERY, of backward Euler without substeps.
Body number BODY has a skin: the surface SKIN inside the tetrahedra REST, both at rest. meshio, plyfile, trimesh and
pygltflib read what they know; PC2 and MDD are read here, after the descriptions of their formats.
"""

import csv
import json
import struct
import sys
from pathlib import Path

import meshio
import numpy as np
import plyfile
import pygltflib
import trimesh

FACES = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]


def check(what, fine):
    if not fine:
        sys.exit(f"FAILED: {what}")


def same(what, a, b, within=0.0):
    a, b = np.asarray(a), np.asarray(b)
    check(f"{what}: shapes {a.shape} and {b.shape}", a.shape == b.shape)
    apart = float(np.max(np.abs(a.astype(float) - b.astype(float)), initial=0.0))
    check(f"{what}: {apart:g} apart, at most {within:g} expected", apart <= within)


def blocks(mesh, kind):
    """Cells of a kind with the body of each."""
    found = [(block.data, body) for block, body in zip(mesh.cells, mesh.cell_data["body"]) if block.type == kind]
    width = {"tetra": 4, "triangle": 3, "line": 2}[kind]
    cells = np.concatenate([c for c, _ in found]) if found else np.zeros((0, width), int)
    return cells, np.concatenate([np.ravel(b) for _, b in found]) if found else np.zeros(0, int)


def boundary(tets):
    """Faces of one tetrahedron only."""
    faces = np.concatenate([tets[:, face] for face in FACES])
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[index[count == 1]]


def used_only(mesh):
    """The triangles of a mesh with the vertices that they use."""
    used, triangles = np.unique(mesh.cells_dict["triangle"], return_inverse=True)
    return meshio.Mesh(mesh.points[used], [("triangle", triangles.reshape(-1, 3))])


def barycentric(rest, skin):
    """For each vertex of the skin a tetrahedron that contains it, and its weights there."""
    tets = rest.cells_dict["tetra"]
    corners = rest.points[tets]
    inverse = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
    carriers, weights = [], []
    for point in skin.points:
        local = np.einsum("tij,tj->ti", inverse, point - corners[:, 0])
        all_four = np.column_stack([1 - local.sum(axis=1), local])
        best = np.argmax(all_four.min(axis=1))
        check(f"the skin's vertex {point} is inside the body", all_four[best].min() > -1e-9)
        carriers.append(tets[best])
        weights.append(all_four[best])
    return np.array(carriers), np.array(weights)


class Expected:
    """What must be seen of the simulated mesh: the skin, else the boundary, each body's vertices in their order."""

    def __init__(self, mesh, skinned, rest, skin):
        self.tets, self.tet_body = blocks(mesh, "tetra")
        triangles, triangle_body = blocks(mesh, "triangle")
        lines, line_body = blocks(mesh, "line")
        self.bodies = np.unique(np.concatenate([self.tet_body, triangle_body, line_body]))
        self.parts, self.faces, self.lines, self.ranges, start = [], [], [], {}, 0
        for body in self.bodies:
            seen = np.concatenate([boundary(self.tets[self.tet_body == body]), triangles[triangle_body == body]])
            pieces = lines[line_body == body]
            used = np.unique(np.concatenate([seen.ravel(), pieces.ravel()]))
            if body == skinned:
                first = self.tets[self.tet_body == body].min()
                carriers, weights = barycentric(rest, skin)
                self.parts.append((carriers + first, weights))
                seen, count = skin.cells_dict["triangle"], len(skin.points)
            else:
                self.parts.append((used[:, None], np.ones((len(used), 1))))
                seen, pieces, count = np.searchsorted(used, seen), np.searchsorted(used, pieces), len(used)
            self.faces.append(seen + start)
            self.lines.append(pieces + start)
            self.ranges[body] = range(start, start + count)
            start += count
        self.count = start

    def positions(self, simulated):
        return np.concatenate([(simulated[v] * w[:, :, None]).sum(axis=1) for v, w in self.parts])


def canonical(cells):
    """Cells begun at their lowest vertex, wound as they are, in ascending order."""
    cells = np.asarray(cells, dtype=np.int64)
    begin = cells.argmin(axis=1)[:, None] + np.arange(cells.shape[1])
    turned = np.take_along_axis(cells, begin % cells.shape[1], axis=1)
    return turned[np.lexsort(turned.T[::-1])]


def check_vtk(run, frames, times, motion):
    index = json.loads((run / "frames.vtk.series").read_text())
    check("version of the series", index["file-series-version"] == "1.0")
    check("files of the series", [f["name"] for f in index["files"]] == [f"frames/frame_{k:05}.vtk" for k in frames])
    same("times of the series", [f["time"] for f in index["files"]], times[frames])
    for k, entry in zip(frames, index["files"]):
        mesh = meshio.read(run / entry["name"])
        same(f"{entry['name']}: positions", mesh.points, motion[k])
        if k > 0:
            speed = np.asarray(mesh.point_data["velocity"])
            moved = (motion[k] - motion[k - 1]) / (times[k] - times[k - 1])
            # v = (x_n - x_(n-1)) / h, but for the rounding of positions of some metres over h
            same(f"{entry['name']}: velocities", speed, moved, 1e-11)
    return meshio.read(run / index["files"][0]["name"])


def volume(points, tets):
    a, b, c, d = (points[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a).sum() / 6


def read_surface(path, expected):
    if path.suffix == ".obj":
        mesh = meshio.read(path)
        return mesh.points, mesh.cells_dict["triangle"]
    # meshio refuses a PLY file with edges, and trimesh makes a drawing of it
    ply = plyfile.PlyData.read(str(path))
    edges = np.column_stack([ply["edge"]["vertex1"], ply["edge"]["vertex2"]])
    same(f"{path}: edges", edges, np.concatenate(expected.lines))
    return np.column_stack([ply["vertex"][axis] for axis in "xyz"]), np.stack(ply["face"]["vertex_indices"])


def check_surface(run, frames, motion, expected, ending, skinned):
    for k in frames:
        name = f"frames/frame_{k:05}.{ending}"
        points, faces = read_surface(run / name, expected)
        same(f"{name}: faces", canonical(faces), canonical(np.concatenate(expected.faces)))
        # weights of a skin are found in another way than ours
        same(f"{name}: positions", points, expected.positions(motion[k]), 1e-12)
        for body in expected.bodies:
            tets = expected.tets[expected.tet_body == body]
            if len(tets) == 0 or body == skinned:
                continue
            own = trimesh.Trimesh(points, faces, process=False)
            own.update_faces(np.isin(own.faces[:, 0], expected.ranges[body]))
            own.remove_unreferenced_vertices()
            check(f"{name}: body {body} is closed", own.is_watertight and own.is_winding_consistent)
            same(f"{name}: volume of body {body}", own.volume, volume(motion[k], tets), 1e-12)


def read_pc2(path):
    data = path.read_bytes()
    magic, version, vertices, start, rate, frames = struct.unpack_from("<12siiffi", data)
    check("head of PC2", magic == b"POINTCACHE2\0" and version == 1 and start == 0.0)
    check("length of PC2", len(data) == 32 + 12 * vertices * frames)
    return rate, np.frombuffer(data, "<f4", offset=32).reshape(frames, vertices, 3)


def read_mdd(path):
    data = path.read_bytes()
    frames, vertices = struct.unpack_from(">ii", data)
    times = np.array(struct.unpack_from(f">{frames}f", data, 8))
    check("length of MDD", len(data) == 8 + 4 * frames + 12 * vertices * frames)
    return times, np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, vertices, 3)


def check_caches(run, frames, every, times, motion, expected):
    rate, pc2 = read_pc2(run / "points.pc2")
    check("rate of PC2", rate == every)
    moments, mdd = read_mdd(run / "points.mdd")
    same("times of MDD", moments, times[frames].astype(np.float32))
    same("PC2 and MDD", pc2, mdd)
    wanted = np.array([expected.positions(motion[k]) for k in frames])
    # half a unit in the last place of single precision, and a skin's own rounding
    same("PC2: positions", pc2, wanted, 2.0**-24 * np.abs(wanted).max() + 1e-12)
    mesh = meshio.read(run / "points.obj")
    check("points.obj has the vertices of the caches", len(mesh.points) == pc2.shape[1])
    same("points.obj is the first frame", mesh.points.astype(np.float32), pc2[0])
    same("points.obj: faces", mesh.cells_dict["triangle"], meshio.read(run / "frames/frame_00000.obj").cells_dict["triangle"])
    used = {int(v) for line in (run / "points.obj").read_text().splitlines() if line[0] in "fl" for v in line.split()[1:]}
    check("every vertex of points.obj is in a face or line", used == set(range(1, pc2.shape[1] + 1)))


def check_gltf(run, frames, times, motion, expected):
    path = run / "motion.glb"
    gltf, data = pygltflib.GLTF2().load(str(path)), None
    data = gltf.binary_blob()

    def numbers(index):
        accessor = gltf.accessors[index]
        view = gltf.bufferViews[accessor.bufferView]
        kind, width = {5125: "<u4", 5126: "<f4"}[accessor.componentType], {"SCALAR": 1, "VEC3": 3}[accessor.type]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        check("an accessor is within its view", (accessor.byteOffset or 0) + 4 * width * accessor.count <= view.byteLength)
        values = np.frombuffer(data, kind, accessor.count * width, start).reshape(accessor.count, width)
        if accessor.min:
            same("least values of an accessor", accessor.min, values.min(axis=0))
            same("largest values of an accessor", accessor.max, values.max(axis=0))
        return values

    animation = gltf.animations[0]
    sampler = animation.samplers[0]
    moments, weights = numbers(sampler.input)[:, 0], numbers(sampler.output)
    same("glTF: times", moments, times[frames].astype(np.float32))
    weights = weights.reshape(len(frames), len(frames) - 1)
    check("glTF: a channel for every node", sorted(c.target.node for c in animation.channels) == list(range(len(gltf.nodes))))
    check("glTF: bodies", len(gltf.nodes) == len(expected.bodies))
    for node, body, faces, lines in zip(gltf.nodes, expected.bodies, expected.faces, expected.lines):
        own = expected.ranges[body]
        cells = {4: faces, 1: lines}
        primitives = gltf.meshes[node.mesh].primitives
        check("glTF: triangles and lines", {p.mode for p in primitives} == {m for m, c in cells.items() if len(c)})
        for primitive in primitives:
            indices = numbers(primitive.indices).reshape(-1, 3 if primitive.mode == 4 else 2)
            same(f"glTF: cells of {node.name}", canonical(indices + own.start), canonical(cells[primitive.mode]))
            base = numbers(primitive.attributes.POSITION).astype(float)
            targets = np.array([numbers(t["POSITION"]) for t in primitive.targets], dtype=float)
            for k, weight in zip(frames, weights):
                wanted = expected.positions(motion[k])[own.start : own.stop]
                shown = base + np.tensordot(weight, targets, axes=1)
                # displacements are rounded to single precision, each by half a unit in the last place at most
                bound = 2.0**-23 * (np.abs(wanted).max() + np.abs(base).max()) + 1e-12
                same(f"glTF: {node.name} at frame {k}", shown, wanted, bound)
    scene = trimesh.load(path, process=False)
    surfaces = [g for g in scene.geometry.values() if isinstance(g, trimesh.Trimesh)]
    check("glTF: trimesh sees as many triangles", sum(len(g.faces) for g in surfaces) == sum(map(len, expected.faces)))


def main():
    run, every, skinned = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rest, skin = meshio.read(sys.argv[4]), used_only(meshio.read(sys.argv[5]))
    motion = np.load(run / "trajectory.npy")
    with open(run / "ledger.csv", newline="") as ledger:
        times = np.array([float(row["time"]) for row in csv.DictReader(ledger)])
    check("a row of the ledger for every frame", len(times) == len(motion))
    frames = list(range(0, len(motion), every))
    mesh = check_vtk(run, frames, times, motion)
    expected = Expected(mesh, skinned, rest, skin)
    for ending in ["obj", "ply"]:
        check_surface(run, frames, motion, expected, ending, skinned)
    check_caches(run, frames, every, times, motion, expected)
    check_gltf(run, frames, times, motion, expected)
    moved = np.abs(motion[-1] - motion[0]).max()
    check("something moved", moved > 1e-3)
    print(f"all exports agree: {len(frames)} frames, {motion.shape[1]} simulated and {expected.count} visible vertices")


main()
