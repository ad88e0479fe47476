//! What a user waits for: a whole frame of ten iterations, from 1k to 200k tetrahedra, double and single precision.
//!
//! The variants of a size are interleaved frame by frame after a warm-up; minimum and median are printed.
//! `dashpot bench scale` is the same up to a million tetrahedra.

fn main() -> Result<(), dashpot::Error> {
    println!("{}", dashpot::cli::bench::measure::machine());
    dashpot::cli::bench::suites::scale(20, 200_000).map(|_| ())
}
