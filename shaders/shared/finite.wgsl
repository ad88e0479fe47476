// Whether a number is neither infinite nor NaN, by its bits: a compiler may assume that comparisons never see these.
fn is_finite(number: f32) -> bool {
    return (bitcast<u32>(number) & 0x7f800000u) != 0x7f800000u;
}
