//! Curves of Valanis and Landel's law.

/// f′, g′ and h′ over their stretches, as shares of a modulus μ.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curves {}
