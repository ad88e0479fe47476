// Pairs of L-BFGS: vectors s, y and A^-1 y, for a kernel that declares `sizes` and `rule`. Behind them stand g and A^-1 g of the iteration.
//use shared/layout.wgsl

// Pairs that count, at most, and one that may be left out.
const PAIRS: u32 = 9u;

// Vectors of a pair.
const CHANGE: u32 = 0u;
const RESPONSE: u32 = 1u;
const SOLVED: u32 = 2u;

// Where numbers stand in `curvature`: s_i . y_j and y_i . A^-1 y_j, row by row, then the shares of A^-1 y_i and of s_i.
const SOLVED_PRODUCTS: u32 = 81u;
const SOLVED_SHARES: u32 = 162u;
const CHANGE_SHARES: u32 = 171u;

// Pairs with the one that may be left out.
fn pair_count() -> u32 {
    return min(rule.history, PAIRS - 1u) + 1u;
}

// The first number of a vector at vertex i.
fn pair_at(pair: u32, vector: u32, i: u32) -> u32 {
    return 3u * ((3u * pair + vector) * sizes.vertices + i);
}
