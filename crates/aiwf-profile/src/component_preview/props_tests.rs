use super::*;

/// The props of `Card` in a source, one per line.
fn check(source: &str) -> String {
    let (props, also) = read_props(source, "Card");
    let shown = |prop: &Prop| {
        let sign = if prop.is_required { "" } else { "?" };
        let default = prop.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        let help = prop.help.as_ref().map(|help| format!(" // {help}")).unwrap_or_default();
        format!("{}{sign}: {}{default}{help}", prop.name, prop.type_text)
    };
    let also = also.iter().map(|other| format!("& {other}"));
    props.iter().map(shown).chain(also).collect::<Vec<_>>().join("\n")
}

#[test]
fn reads_an_interface_with_and_without_semicolons() {
    insta::assert_snapshot!(
        check(
            "interface CardProps extends A<B>, C {\n  readonly title: string\n  onPick?: (item: { id: string; n: number }) => void\n  \
             size:\n    | 'small'\n    | 'large'\n  'data-x'?: Record<string, Array<number>>; close(): void,\n  children: ReactNode }\n\
             export function Card({ title, size = 'small' }: CardProps) {}"
        ),
        @r"
        title: string
        onPick?: (item: { id: string; n: number }) => void
        size?: 'small' | 'large' = 'small'
        data-x?: Record<string, Array<number>>
        close: (): void
        children: ReactNode
        & A<B>
        & C
        "
    );
}

#[test]
fn reads_a_type_with_intersections() {
    insta::assert_snapshot!(
        check("export type CardProps = HTMLAttributes<HTMLDivElement> & {\n  tone: Tone;\n} & Pick<Other, 'a' | 'b'>;\nexport const Card: FC<CardProps> = ({ tone }) => null"),
        @r"
        tone: Tone
        & HTMLAttributes<HTMLDivElement>
        & Pick<Other, 'a' | 'b'>
        "
    );
}

#[test]
fn reads_a_type_declared_with_the_parameters() {
    insta::assert_snapshot!(check("export const Card = ({ a, b = 2 }: { a: string; b?: number }) => null;"), @r"
    a: string
    b?: number = 2
    ");
}

#[test]
fn reads_prop_types_and_default_props() {
    insta::assert_snapshot!(
        check(
            "export function Card({ title, tone, ...rest }) {}\nCard.propTypes = {\n  /** The heading. */\n  title: PropTypes.string.isRequired,\n  \
             tone: PropTypes.oneOf(['a', 'b']),\n  onPick: PropTypes.func,\n};\nCard.defaultProps = { tone: 'a' };"
        ),
        @r"
        title: string // The heading.
        tone?: oneOf(['a', 'b']) = 'a'
        onPick?: func
        "
    );
}

#[test]
fn reads_the_parameters_when_nothing_else_is_there() {
    insta::assert_snapshot!(check("const Card = memo(({ title, onPick = () => {}, rows: list = [] }) => null)"), @r"
    title: 
    onPick?:  = () => {}
    rows?:  = []
    ");
    assert_eq!(check("function Card(props) { return null; }"), "");
    assert_eq!(check(""), "");
}

#[test]
fn unfinished_sources_are_read_as_far_as_they_go() {
    insta::assert_snapshot!(check("interface CardProps { a: string; b?: (x"), @r"
    a: string
    b?: (x
    ");
    insta::assert_snapshot!(check("type CardProps = "), @"");
}
