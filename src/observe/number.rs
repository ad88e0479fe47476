//! Numbers in table columns.

/// A number with this many decimals, or in scientific notation if that does not fit the column.
pub fn fixed(value: f64, decimals: usize, width: usize) -> String {
    let plain = format!("{value:.decimals$}");
    // zero after rounding has no sign
    let plain = match plain.strip_prefix('-') {
        Some(positive) if positive.bytes().all(|byte| matches!(byte, b'0' | b'.')) => positive.into(),
        _ => plain,
    };
    if plain.len() <= width || !value.is_finite() { plain } else { format!("{value:.decimals$e}") }
}

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn a_number_too_wide_for_its_column_is_written_with_an_exponent() {
        assert_eq!(fixed(4000.620388, 6, 15), "4000.620388");
        assert_eq!(fixed(-9999999.0, 6, 15), "-9999999.000000");
        assert_eq!(fixed(123456789.0, 6, 15), "1.234568e8");
        // the widest of all still fits
        for value in [1e99, -1e99, f64::MAX, -f64::MAX, f64::MIN_POSITIVE] {
            assert!(fixed(value, 6, 15).len() <= 15, "{value}");
        }
        assert_eq!((fixed(-1e-9, 6, 15), fixed(-0.0, 0, 15)), ("0.000000".into(), "0".into()));
        assert_eq!(fixed(f64::NAN, 6, 15), "NaN");
    }
}
