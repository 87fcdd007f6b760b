use super::*;

const BUTTON: &str = r#"import { forwardRef } from "react";
import type { ButtonHTMLAttributes } from "react";
import styles from "./Button.module.css";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type"> {
  /** How it looks. */
  variant?: "primary" | "secondary" | "ghost" | "link";
  /** Shows a spinner & takes no clicks. */
  loading?: boolean;
  label: string;
}

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { variant = "primary", loading = false, label, className, ...rest },
  ref,
) {
  return (
    <button ref={ref} type="button" className={`${styles.root} ${className ?? ""}`} aria-busy={loading} {...rest}>
      {label} isn't <b>done</b>
    </button>
  );
});
"#;

#[test]
fn finds_the_component_among_the_generated_files() {
    let files = [
        ("index.ts", "export { Button } from \"./Button\";\n"),
        ("Button.test.tsx", "function Button() {}"),
        ("Button.tsx", BUTTON),
        ("Button.module.css", ".root {}\n"),
    ];
    let preview = component_preview(&files, Some("Button")).unwrap();
    assert_eq!(preview.file, "Button.tsx");
    assert_eq!(preview.other_files.len(), 3);
    insta::assert_snapshot!(preview.summary(), @r#"
    Button (Button.tsx)
      prop     type                                        required  default
      variant  "primary" | "secondary" | "ghost" | "link"  no        "primary"  How it looks.
      loading  boolean                                     no        false      Shows a spinner & takes no clicks.
      label    string                                      yes
      and the props of Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type">
    "#);
    assert!(preview.text().ends_with(BUTTON));
    assert_eq!(component_preview(&files, None).unwrap().component, "Button");
}

#[test]
fn a_component_in_a_file_of_another_name_is_found_by_its_declaration() {
    let files = [("parts.jsx", "export function Badge({ count = 0, label }) { return null; }")];
    insta::assert_snapshot!(component_preview(&files, Some("Badge")).unwrap().summary(), @r"
    Badge (parts.jsx)
      prop   type  required  default
      count        no        0
      label        yes
    ");
}

#[test]
fn no_component_is_an_error_that_names_the_files() {
    insta::assert_snapshot!(component_preview(&[("a.css", ""), ("index.ts", "")], Some("Button")).unwrap_err(), @"no component `Button` in `a.css`, `index.ts`");
    insta::assert_snapshot!(component_preview(&[], None).unwrap_err(), @"no component, because no file was generated");
}

#[test]
fn the_page_is_whole_and_escapes_everything() {
    let hostile = "export function X({ a = \"</pre><script>alert(1)</script>\" }) { return <b>&amp;</b>; }\n";
    let files = [("X.tsx", hostile), ("<img src=x>.css", "a{}")];
    let html = component_preview(&files, Some("X")).unwrap().html();
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("</pre><"));
    insta::assert_snapshot!(
        "page",
        component_preview(&[("Button.tsx", BUTTON)], Some("Button")).unwrap().html()
    );
}

#[test]
fn tokens_have_kinds() {
    let shown: Vec<String> = highlight("const A = `x${1}`; // c\nfoo(2, 'a\\'b')")
        .iter()
        .filter(|(kind, _)| *kind != TokenKind::Blank)
        .map(|(kind, text)| format!("{kind:?} {text}"))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    Keyword const
    Type A
    Sign =
    Text `x${1}`
    Sign ;
    Comment // c
    Name foo
    Sign (
    Number 2
    Sign ,
    Text 'a\'b'
    Sign )
    ");
}
