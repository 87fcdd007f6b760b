//! The sample project that the README and the demo use.

use aiwf_profile::{Tenancy, ddl};

const SCHEMA: &str = include_str!("../../../../examples/shop/schema.sql");

#[test]
fn its_schema_is_read_without_problems() {
    let report = ddl(SCHEMA, None, &["tenant_id".to_owned()]);
    assert_eq!(report.problems, []);
    let global: Vec<&str> = report
        .tables
        .iter()
        .filter(|table| table.tenancy == Tenancy::Global)
        .map(|table| table.name.as_str())
        .collect();
    assert_eq!(global, ["tenant", "country"]);
    insta::assert_snapshot!("example_shop", report.text());
}
