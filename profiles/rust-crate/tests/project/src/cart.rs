pub fn total(prices: &[u64]) -> u64 {
    todo!()
}
