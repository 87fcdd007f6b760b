use super::*;

#[test]
fn every_name_finds_its_parser() {
    for parser in Parser::ALL {
        assert_eq!(Parser::from_name(parser.as_str()), Some(parser));
    }
    assert_eq!(Parser::from_name("File-Markers"), None);
    assert_eq!(Parser::ToolCalls.to_string(), "tool-calls");
}
