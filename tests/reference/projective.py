"""Projective Dynamics in forty lines of numpy, as the papers write it: an independent reference.

    python3 tests/reference/projective.py > tests/reference/projective.json      (needs numpy; seconds)

Dense matrices, singular value decompositions, the global step in the form x = A^-1 b of the Laplacian paper's
Eq. 11 and 15 (Dashpot uses the increment form). Positions after each frame go into the JSON file that
tests/motion/independent_program.rs compares with.
"""
import json
import numpy as np

GRAVITY = np.array([0.0, -9.81, 0.0])


def box(nx, ny, nz, size):
    """A box of cubes, each cut into five tetrahedra (not Dashpot's six), wobbled so that nothing is regular."""
    rng = np.random.default_rng(5)
    index = lambda i, j, k: (i * (ny + 1) + j) * (nz + 1) + k
    points = np.array([[i / nx, j / ny, k / nz] for i in range(nx + 1) for j in range(ny + 1) for k in range(nz + 1)])
    points = points * size + rng.uniform(-0.02, 0.02, points.shape)
    tets = []
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                c = {(a, b, d): index(i + a, j + b, k + d) for a in (0, 1) for b in (0, 1) for d in (0, 1)}
                f = lambda a, b, d: c[(a ^ ((i + j + k) & 1), b, d)]
                tets += [[f(0,0,0), f(1,1,0), f(1,0,1), f(0,1,1)], [f(1,0,0), f(0,0,0), f(1,1,0), f(1,0,1)],
                         [f(0,1,0), f(0,0,0), f(1,1,0), f(0,1,1)], [f(0,0,1), f(0,0,0), f(1,0,1), f(0,1,1)],
                         [f(1,1,1), f(1,1,0), f(1,0,1), f(0,1,1)]]
    tets = np.array(tets)
    for t in tets:  # positive volume
        if np.linalg.det((points[t[1:]] - points[t[0]]).T) < 0:
            t[[2, 3]] = t[[3, 2]]
    return points, tets


def rotation(f):
    u, _, vt = np.linalg.svd(f)
    u[:, 2] *= np.sign(np.linalg.det(u @ vt))
    return u @ vt


def simulate(case):
    rest, tets = np.array(case["positions"]), np.array(case["tets"])
    n, h, mu = len(rest), case["h"], case["mu"]
    mass, lap, elements = np.zeros(n), np.zeros((n, n)), []
    for t in tets:
        dm = (rest[t[1:]] - rest[t[0]]).T
        volume, g = np.linalg.det(dm) / 6, np.zeros((3, n))
        inverse = np.linalg.inv(dm)
        for k in range(3):
            g[:, t[k + 1]] += inverse[k]
            g[:, t[0]] -= inverse[k]
        mass[t] += case["density"] * volume / 4
        lap += 2 * mu * volume * g.T @ g
        elements.append((2 * mu * volume, g))
    held = np.array(case["held"])
    hold = np.zeros(n)
    hold[held] = case["hold"]
    m, a1, a2 = np.diag(mass), *case["damping"]
    d = a1 * m + a2 * lap
    x, v = rest.copy(), np.tile(np.array(case["velocity"]), (n, 1))
    anchors, x_old, v_old, frames = rest.copy(), x.copy(), v.copy(), []
    for frame in range(case["frames"]):
        kind = case["integrator"]
        if kind == "bdf2" and frame == 0:
            kind = "backward-euler"
        if kind == "backward-euler":
            c1, c2, y, z, s, q = 1, 1, x + h * v + h * h * GRAVITY, 0 * x, 1 / h, -x / h
        elif kind == "implicit-midpoint":
            c1, c2, y, z, s, q = 1, 0.5, x + h * v + h * h / 2 * GRAVITY, x / 2, 2 / h, -2 * x / h - v
        else:
            y = (4 * x - x_old) / 3 + h * (8 * v - 2 * v_old) / 9 + 4 * h * h / 9 * GRAVITY
            c1, c2, z, s, q = 4 / 9, 1, 0 * x, 1.5 / h, (-4 * x + x_old) / (2 * h)
        a = m / h**2 + c1 * c2**2 * (lap + np.diag(hold)) + c2 * h * s**2 * d
        new = y.copy()
        for _ in range(case["iterations"]):
            b = m @ y / h**2 - c1 * c2 * (lap + np.diag(hold)) @ z - c2 * h * s * d @ q + c1 * c2 * hold[:, None] * anchors
            for w, g in elements:
                f = (g @ (c2 * new + z)).T  # columns of F
                b += c1 * c2 * w * g.T @ rotation(f).T
            new = np.linalg.solve(a, b)
        x_old, v_old, x, v = x, v, new, s * new + q
        frames.append(x.copy())
    return frames


def main():
    points, tets = box(4, 2, 2, np.array([0.8, 0.4, 0.4]))
    held = [i for i, p in enumerate(points) if p[0] < 0.05]
    cases = []
    for integrator in ("backward-euler", "implicit-midpoint", "bdf2"):
        for damping in ((0.0, 0.0), (0.2, 2e-3)):
            case = dict(integrator=integrator, damping=damping, positions=points.tolist(), tets=tets.tolist(), h=0.02,
                        mu=8000.0, density=900.0, held=held, hold=2e4, velocity=[0.0, 0.5, 1.0], frames=20, iterations=6)
            case["trajectory"] = [f.tolist() for f in simulate(case)][4::5]  # frames 5, 10, 15, 20
            cases.append(case)
    print(json.dumps(cases))


main()
