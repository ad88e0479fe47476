"""A bar by scikit-fem: eigenfrequencies, static deflections, large bending. An independent reference.

    python3 -m venv venv && venv/bin/pip install scikit-fem==12.0.2 scipy==1.17.1 numpy==2.4.6
    venv/bin/python tests/reference/elasticity.py > tests/reference/elasticity.json      (a minute or two)

Elements, quadrature and assembly are scikit-fem's; what is written here are the weak forms. Linear tetrahedra (P1) on the
very mesh that Dashpot generates, with its lumped mass, so that both must agree to rounding. Quadratic ones (P2) with their
consistent mass on fine meshes for the continuum, and the formulas of beams. tests/materials/continuum.rs compares.

The bar lies along x, y is up, its end x = 0 is clamped: the degrees of freedom there are removed.
"""
import json
import sys

import numpy as np
import scipy.optimize
import scipy.sparse as sparse
import scipy.sparse.linalg as sparse_linalg
from scipy.linalg import eigh
from skfem import Basis, BilinearForm, ElementTetP1, ElementTetP2, ElementVector, LinearForm, MeshTet, condense, solve
from skfem.helpers import ddot, dot, grad, sym_grad, trace
from skfem.models.elasticity import lame_parameters

SIZE, CELLS = [1.2, 0.2, 0.3], [12, 2, 3]
YOUNG, POISSON, DENSITY = 1e6, 0.3, 1000.0
LAMBDA, MU = lame_parameters(YOUNG, POISSON)
SMALL, LARGE = 1e-5, 9.81  # gravity (m/s²)


def box(cells, size):
    """The box as docs/scene-format.md has it: x fastest, every cell cut into six tetrahedra around its diagonal."""
    ticks = [np.arange(n + 1) / n * s for n, s in zip(cells, size)]
    points = np.array([[x, y, z] for z in ticks[2] for y in ticks[1] for x in ticks[0]])
    steps = np.array([1, cells[0] + 1, (cells[0] + 1) * (cells[1] + 1)])
    tets = []
    for k in range(cells[2]):
        for j in range(cells[1]):
            for i in range(cells[0]):
                first = np.array([i, j, k]) @ steps
                for a, b in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)]:  # along axis a, then b, then the third
                    path = [first, first + steps[a], first + steps[a] + steps[b], first + steps.sum()]
                    tets.append(path if (b - a) % 3 == 1 else [path[0], path[2], path[1], path[3]])
    return points, np.array(tets)


def basis_of(cells, element, **options):
    points, tets = box(cells, SIZE)
    return Basis(MeshTet(points.T, tets.T), ElementVector(element), **options)


def clamped(basis):
    return basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all()


@BilinearForm
def stiffness(u, v, w):
    e = sym_grad(u)
    return 2 * MU * ddot(e, sym_grad(v)) + w["lame"] * trace(e) * trace(sym_grad(v))


@BilinearForm
def inertia(u, v, _):
    return DENSITY * dot(u, v)


def consistent_mass(basis):
    return inertia.assemble(basis)


@LinearForm
def weight(v, _):
    """Of gravity 1 m/s² downwards (−y)."""
    return -DENSITY * v[1]


def lumped_mass(basis):
    """Row sums of the consistent mass of P1: a quarter of each tetrahedron's mass to each corner."""
    rows = np.asarray(consistent_mass(basis).sum(axis=1)).ravel()
    return sparse.diags(rows).tocsr()


def factored(k):
    """SuperLU with an order for symmetric matrices."""
    return sparse_linalg.splu(k.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def frequencies(k, m, count, factor=None):
    """The lowest frequencies (Hz) of K u = ω² M u. Zero modes are rounding, sign kept.

    Small ones dense; of large ones by Lanczos about the shift 0, or −1 s⁻² where K has zero modes and no factor is given.
    """
    if k.shape[0] < 1500:
        values = eigh(k.toarray(), m.toarray(), eigvals_only=True, subset_by_index=[0, count - 1])
    else:
        shift = 0.0 if factor else -1.0
        factor = factor or factored(k - shift * m)
        inverse = sparse_linalg.LinearOperator(k.shape, factor.solve)
        start = np.random.default_rng(1).standard_normal(k.shape[0])
        values = np.sort(sparse_linalg.eigsh(k, count, m, sigma=shift, OPinv=inverse, tol=1e-13, v0=start)[0])
    return list(np.sign(values) * np.sqrt(np.abs(values)) / (2 * np.pi))


def tip(basis, u):
    """Where the middle of the end face goes: the mean of the displacement of the end's four corners (m)."""
    corners = [v for v, p in enumerate(basis.mesh.p.T) if np.isclose(p[0], SIZE[0])
               and any(np.isclose(p[1], [0, SIZE[1]])) and any(np.isclose(p[2], [0, SIZE[2]]))]
    assert len(corners) == 4
    return [float(np.mean(u[basis.nodal_dofs[i, corners]])) for i in range(3)]


def linear(cells, element, mass, count=10, lame=LAMBDA):
    basis = basis_of(cells, element)
    k, m, ends = stiffness.assemble(basis, lame=lame), mass(basis), clamped(basis)
    free = np.setdiff1d(np.arange(basis.N), ends)
    k, m = k[free][:, free], m[free][:, free]
    factor, u = factored(k), np.zeros(basis.N)
    u[free] = factor.solve(SMALL * weight.assemble(basis)[free])
    print(cells, type(element).__name__, basis.N, file=sys.stderr)
    return {"cells": cells, "clamped_hz": frequencies(k, m, count, factor), "tip_under_small_load": tip(basis, u)}


def free_bar(cells, element, mass):
    basis = basis_of(cells, element)
    return frequencies(stiffness.assemble(basis, lame=LAMBDA), mass(basis), 11)


def product(a, b):
    return np.einsum("ij...,jk...->ik...", a, b)


def turned(a):
    return np.swapaxes(a, 0, 1)


def identity(scale):
    return np.einsum("ij,...->ij...", np.eye(3), scale)


class StVenantKirchhoff:
    """W = μ |G|² + λ/2 tr²G, G = (FᵀF − I)/2; P = F S, S = 2μ G + λ tr G I."""

    @staticmethod
    def second(g):
        return 2 * MU * g + LAMBDA * identity(np.trace(g))

    def stress(self, f):
        return product(f, self.second((product(turned(f), f) - identity(np.ones(f.shape[2:]))) / 2))

    def change(self, f, d):
        g = (product(turned(f), f) - identity(np.ones(f.shape[2:]))) / 2
        dg = (product(turned(f), d) + product(turned(d), f)) / 2
        return product(d, self.second(g)) + product(f, self.second(dg))


class NeoHookean:
    """W = μ/2 (|F|² − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)²; P = μ F + ((λ + μ)(J − 1) − μ) J F⁻ᵀ."""

    def parts(self, f):
        last = np.moveaxis(f, (0, 1), (-2, -1))
        j = np.linalg.det(last)
        inverse_transposed = turned(np.moveaxis(np.linalg.inv(last), (-2, -1), (0, 1)))
        return j, inverse_transposed, (LAMBDA + MU) * (j - 1) - MU

    def stress(self, f):
        j, it, pressure = self.parts(f)
        return MU * f + pressure * j * it

    def change(self, f, d):
        j, it, pressure = self.parts(f)
        dj = j * np.einsum("ij...,ij...->...", it, d)
        dit = -product(it, product(turned(d), it))
        return MU * d + (LAMBDA + MU) * dj * j * it + pressure * (dj * it + j * dit)


@LinearForm
def inner_force(v, w):
    return ddot(w["stress"], grad(v))


@BilinearForm
def tangent(u, v, w):
    return np.einsum("ijkl...,ij...,kl...->...", w["moduli"], grad(v), grad(u))


def equilibrium(law, cells):
    """P1 under the large load, by Newton's method, the load in ten parts. F is constant in an element: one point each."""
    basis = basis_of(cells, ElementTetP1(), intorder=1)
    ends, load = clamped(basis), LARGE * weight.assemble(basis)
    free = np.setdiff1d(np.arange(basis.N), ends)
    u = np.zeros(basis.N)

    def at(u):
        field = basis.interpolate(u).grad
        f = np.asarray(field) + identity(np.ones(field.shape[2:]))
        columns = [law.change(f, np.broadcast_to(unit.reshape(3, 3, *[1] * (f.ndim - 2)), f.shape))
                   for unit in np.eye(9).reshape(9, 3, 3)]
        moduli = np.moveaxis(np.array(columns).reshape(3, 3, *f.shape), (0, 1), (2, 3))
        return inner_force.assemble(basis, stress=law.stress(f)), tangent.assemble(basis, moduli=moduli)

    for part in np.arange(1, 11) / 10:
        for iteration in range(60):
            force, k = at(u)
            residual = part * load - force
            size = np.linalg.norm(residual[free]) / np.linalg.norm(part * load)
            if size < 1e-11:
                break
            u += solve(*condense(k, residual, D=ends))
        print(f"{type(law).__name__} load {part:.1f}: {iteration} iterations, residual {size:.1e}", file=sys.stderr)
        assert size < 1e-11
    assert np.linalg.eigvalsh(at(u)[1].toarray()[np.ix_(free, free)])[0] > 0, "not a minimum"
    return {"tip": tip(basis, u), "displacements": u[basis.nodal_dofs].T.tolist()}


def euler_bernoulli():
    """Bending about both axes, twisting (Saint-Venant's J of a rectangle) and stretching of the clamped bar (Hz)."""
    length, height, width = SIZE
    area, shear = height * width, YOUNG / (2 * (1 + POISSON))
    roots = [scipy.optimize.brentq(lambda s: np.cos(s) + 1 / np.cosh(s), (n - 0.7) * np.pi, (n - 0.3) * np.pi)
             for n in (1, 2, 3)]
    bend = {axis: [s**2 / (2 * np.pi * length**2) * np.sqrt(YOUNG * depth**2 / 12 / DENSITY) for s in roots]
            for axis, depth in (("y", height), ("z", width))}
    odd = np.arange(1, 60, 2)
    torsion = width * height**3 / 3 * (1 - 192 * height / (np.pi**5 * width)
                                       * np.sum(np.tanh(odd * np.pi * width / (2 * height)) / odd**5))
    polar = width * height * (width**2 + height**2) / 12
    twist = [(2 * n - 1) / (4 * length) * np.sqrt(shear * torsion / (DENSITY * polar)) for n in (1, 2, 3)]
    stretch = [(2 * n - 1) / (4 * length) * np.sqrt(YOUNG / DENSITY) for n in (1, 2, 3)]
    sag = DENSITY * SMALL * area * length**4 / (8 * YOUNG * width * height**3 / 12)
    return {"bending_y_hz": bend["y"], "bending_z_hz": bend["z"], "twist_hz": twist, "stretch_hz": stretch,
            "sag_under_small_load": sag}


def timoshenko():
    """Bending of a beam that shears, with the factor k = 10(1 + ν)/(12 + 11ν) of a rectangle.

    Its sag is a formula. Its frequencies are those of 4000 linear elements in w and θ with one point of integration each,
    whose error goes with (length/4000)².
    """
    length, height, width = SIZE
    n = 4000
    shear = YOUNG / (2 * (1 + POISSON)) * 10 * (1 + POISSON) / (12 + 11 * POISSON)
    h, area, result = length / n, height * width, {}
    for axis, depth in (("y", height), ("z", width)):
        inertia = area * depth**2 / 12
        b = np.array([0.0, -1 / h, 0.0, 1 / h])                     # θ'
        g = np.array([-1 / h, -0.5, 1 / h, -0.5])                   # w' − θ
        element = h * (YOUNG * inertia * np.outer(b, b) + shear * area * np.outer(g, g))
        rows = np.add.outer(2 * np.arange(n), np.arange(4))
        i = np.repeat(rows, 4, axis=1).ravel()
        j = np.tile(rows, (1, 4)).ravel()
        k = sparse.csc_matrix((np.tile(element.ravel(), n), (i, j)))
        lump = np.ones(n + 1) * h
        lump[[0, -1]] /= 2
        m = sparse.diags(np.ravel(np.column_stack([DENSITY * area * lump, DENSITY * inertia * lump]))).tocsc()
        k, m = k[2:, 2:], m[2:, 2:]
        values = np.sort(sparse_linalg.eigsh(k, 3, m, sigma=0.0, which="LM")[0])
        result[f"bending_{axis}_hz"] = list(np.sqrt(values) / (2 * np.pi))
    sag = DENSITY * SMALL * area * (length**4 / (8 * YOUNG * width * height**3 / 12) + length**2 / (2 * shear * area))
    return result | {"sag_under_small_load": sag}


def main():
    p1, p2 = ElementTetP1(), ElementTetP2()
    points, tets = box(CELLS, SIZE)
    out = {
        "made": "tests/reference/elasticity.py with scikit-fem 12.0.2, scipy 1.17.1, numpy 2.4.6; lengths in m, frequencies in Hz",
        "size": SIZE, "cells": CELLS, "young_modulus": YOUNG, "poisson_ratio": POISSON, "density": DENSITY,
        "mu": float(MU), "lambda": float(LAMBDA), "small_gravity": SMALL, "large_gravity": LARGE,
        "positions": points.tolist(), "tets": tets.tolist(),
        "p1": linear(CELLS, p1, lumped_mass) | {"free_hz": free_bar(CELLS, p1, lumped_mass)},
        "p1_without_lambda": linear(CELLS, p1, lumped_mass, lame=0.0),
        "p1_finer": [linear([n * c for c in CELLS], p1, lumped_mass, 5) for n in (2, 4)],
        "large": {"stvk": equilibrium(StVenantKirchhoff(), CELLS), "neo-hookean": equilibrium(NeoHookean(), CELLS)},
        "p2": [linear([n * c for c in CELLS], p2, consistent_mass)
               | {"free_hz": free_bar([n * c for c in CELLS], p2, consistent_mass)} for n in (1, 2)],
        "euler_bernoulli": euler_bernoulli(), "timoshenko": timoshenko(),
    }
    print("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value, default=float)}" for key, value in out.items()) + "}")


if __name__ == "__main__":
    main()
