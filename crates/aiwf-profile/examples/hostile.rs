//! x
use std::collections::BTreeMap;
fn main() {
    for t in [
        "{{ 'x' * 2000000000 }}",
        "{{ [0] * 2000000000 }}",
        "{{ range(2000000000) | list | length }}",
        "{{ ('x' * 100000) | replace('x', 'y' * 100000) | length }}",
        "{% set a = 'x' * 1000000 %}{% set b = a ~ a %}{% set c = b ~ b %}{% set d = c ~ c %}{% set e = d ~ d %}{% set f = e ~ e %}{% set g = f ~ f ~ f ~ f %}{% set h = g ~ g ~ g ~ g ~ g ~ g %}{{ (h ~ h) | length }}",
        "{{ 'x' | indent(2000000000) | length }}",
        "{{ 2 ** 9999999 }}",
        "{{ '%1000000000d' | format(1) | length }}",
    ] {
        let mut f = BTreeMap::new();
        for (p, t) in aiwf_profile::scaffold("notes") { f.insert(p, t.into_bytes()); }
        f.insert("templates/plan.md".to_owned(), t.as_bytes().to_vec());
        let r = aiwf_profile::Profile::load(f).unwrap();
        let s = std::time::Instant::now();
        let r = r.prompt(aiwf_profile::Phase::Planning, &Default::default(), &Default::default());
        let rss = std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().to_owned();
        println!("{t:.40} {:?} {:?} {rss}", s.elapsed(), r.map(|s| s.len()).map_err(|e| e.to_string().chars().take(80).collect::<String>()));
    }
}
