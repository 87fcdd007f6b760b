use super::*;

fn tenant_columns() -> Vec<String> {
    vec!["tenant_id".to_owned()]
}

fn check(sql: &str) -> String {
    ddl(sql, None, &tenant_columns()).text()
}

#[test]
fn reads_a_postgresql_dump() {
    insta::assert_snapshot!("postgresql", check(include_str!("ddl/samples/postgresql.sql")));
}

#[test]
fn reads_a_mysql_dump() {
    insta::assert_snapshot!("mysql", check(include_str!("ddl/samples/mysql.sql")));
}

#[test]
fn reads_a_script_for_sql_server() {
    insta::assert_snapshot!("sql_server", check(include_str!("ddl/samples/sql_server.sql")));
}

#[test]
fn reads_a_script_for_oracle() {
    insta::assert_snapshot!("oracle", check(include_str!("ddl/samples/oracle.sql")));
}

#[test]
fn reads_migrations_one_after_the_other() {
    insta::assert_snapshot!("migrations", check(include_str!("ddl/samples/migrations.sql")));
}

#[test]
fn reads_sqlite_and_plain_sql() {
    insta::assert_snapshot!(
        check("create table note (id integer primary key autoincrement, body text default 'a;b', unique(body)) without rowid;\ncreate table t (x int);"),
        @r"
        note (line 1): global
          column  type     null  default    key
          id      INTEGER  no    generated  PK
          body    TEXT     yes   'a;b'      UQ
          unique (body)

        t (line 2): global
          column  type  null  default  key
          x       INT   yes
          note: it has no primary key
        "
    );
}

#[test]
fn one_table_can_be_asked_for() {
    let sql = "CREATE TABLE sales.customer (id INT PRIMARY KEY);\nCREATE TABLE product (id INT PRIMARY KEY);";
    let names = |table: &str| -> Vec<String> {
        ddl(sql, Some(table), &tenant_columns()).tables.into_iter().map(|table| table.name).collect()
    };
    assert_eq!(names("CUSTOMER"), ["customer"]);
    assert_eq!(names("sales.customer"), ["customer"]);
    insta::assert_snapshot!(ddl(sql, Some("custmer"), &tenant_columns()).text(), @r"
    problems:
      line 1: the schema has no table `custmer`; did you mean `customer`? known: `customer`, `product`
    ");
}

#[test]
fn notes_cover_tenancy_and_keys() {
    insta::assert_snapshot!(
        check(
            "CREATE TABLE tenant (id INT PRIMARY KEY);\n\
             CREATE TABLE customer (id INT PRIMARY KEY, TENANT_ID INT, email TEXT UNIQUE);\n\
             CREATE TABLE address (street TEXT, customer_id INT REFERENCES customer);"
        ),
        @r"
        tenant (line 1): global
          column  type  null  default  key
          id      INT   no             PK

        customer (line 2): tenant-scoped by TENANT_ID
          column     type  null  default  key
          id         INT   no             PK
          TENANT_ID  INT   yes
          email      TEXT  yes            UQ
          unique (email)
          note: its tenant column `TENANT_ID` can be null
          note: unique key (email) does not include `TENANT_ID`, so it applies across tenants

        address (line 3): global
          column       type  null  default  key
          street       TEXT  yes
          customer_id  INT   yes            FK customer
          foreign key (customer_id) -> customer
          note: it has no primary key
          note: it has no tenant column but points to tenant-scoped `customer`
        "
    );
}

#[test]
fn the_tenant_column_can_have_other_names() {
    let report = ddl("CREATE TABLE a (id INT, Mandant_Id INT)", None, &["mandant_id".to_owned()]);
    assert_eq!(report.tables[0].tenancy, Tenancy::TenantScoped { column: "Mandant_Id".to_owned() });
}

#[test]
fn unreadable_parts_are_problems_with_their_line() {
    insta::assert_snapshot!(
        check(
            "CREATE TABLE a (id INT PRIMARY KEY);\n\nCREATE TABLE b (\n  id INT,\n  ??? !!,\n  name TEXT\n);\n\
             ALTER TABLE missing ADD COLUMN x INT;\nALTER TABLE a WOBBLE;\nCREATE TABLE a (x INT);\nCREATE TABLE;\n\
             INSERT INTO a VALUES ('CREATE TABLE no (x INT);');\nCREATE TABLE c (note TEXT DEFAULT 'open"
        ),
        @r"
        a (line 1): global
          column  type  null  default  key
          id      INT   no             PK

        b (line 3): global
          column  type  null  default  key
          id      INT   yes
          name    TEXT  yes
          note: it has no primary key

        problems:
          line 5: `??? !!` of table `b` cannot be read
          line 8: `ALTER TABLE` of `missing`, which no earlier statement creates
          line 9: this `ALTER TABLE` cannot be read: expected: ADD, RENAME, PARTITION, SWAP, DROP, REPLICA IDENTI…
          line 10: table `a` is created again; the one on line 1 counts
          line 11: this `CREATE TABLE` cannot be read: expected: identifier, found: EOF
          line 13: this `CREATE TABLE` cannot be read: unterminated string literal
          line 13: a quote or comment starts here and never ends
        "
    );
}

#[test]
fn deep_and_long_statements_are_refused_not_crashed_on() {
    let chain = format!("CREATE TABLE t (a INT CHECK (a = {} 1))", "1 + ".repeat(100_000));
    insta::assert_snapshot!(check(&chain), @r"
    problems:
      line 1: this statement is nested too deeply
    ");
    let nested = format!("CREATE TABLE t (a INT CHECK {}1{})", "(".repeat(50_000), ")".repeat(50_000));
    insta::assert_snapshot!(check(&nested), @r"
    problems:
      line 1: this statement is nested too deeply
    ");
    let deep = [
        format!("CREATE TABLE t (a INT CHECK ({} true))", "NOT ".repeat(900)),
        format!("CREATE TABLE t (a {}INT{})", "ARRAY<".repeat(450), ">".repeat(450)),
        format!("CREATE TABLE t (a INT DEFAULT {} 1)", "- ".repeat(900)),
        format!("CREATE TABLE t (a INT DEFAULT 1{})", "::INT".repeat(300)),
        format!("CREATE TABLE t (a INT DEFAULT {}1{})", "CASE WHEN 1 THEN ".repeat(150), " END".repeat(150)),
        format!("CREATE TABLE t (a INT DEFAULT {})", "a.".repeat(450)),
        format!("CREATE TABLE t AS {}", "SELECT 1 UNION ".repeat(300)),
    ];
    for sql in deep {
        // Whether it can be read or not, there is a result.
        assert!(!check(&sql).is_empty(), "{}", sql.get(..40).unwrap());
    }
    let columns: Vec<String> = (0..5_000).map(|idx| format!("c{idx} VARCHAR(20) NOT NULL")).collect();
    let wide = format!("CREATE TABLE t ({}, z INT)", columns.join(", "));
    assert_eq!(ddl(&wide, None, &[]).tables[0].columns.len(), 5_001);
}

#[test]
fn a_schema_that_is_too_large_is_refused() {
    let report = ddl(&" ".repeat(MAX_SQL_BYTES + 1), None, &[]);
    insta::assert_snapshot!(report.problems[0].message, @"the schema has 4194305 bytes, more than 4194304");
}

#[test]
fn a_report_is_available_as_json() {
    let report =
        ddl("CREATE TABLE a (id INT PRIMARY KEY, tenant_id INT NOT NULL DEFAULT 1)", None, &tenant_columns());
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap(), @r#"
    {
      "tables": [
        {
          "name": "a",
          "line": 1,
          "tenancy": {
            "kind": "tenant-scoped",
            "column": "tenant_id"
          },
          "columns": [
            {
              "name": "id",
              "type": "INT",
              "nullable": false,
              "generated": false
            },
            {
              "name": "tenant_id",
              "type": "INT",
              "nullable": false,
              "generated": false,
              "default": "1"
            }
          ],
          "primary_key": [
            "id"
          ],
          "unique_keys": [],
          "foreign_keys": [],
          "notes": []
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn partitions_copies_and_children_have_the_columns_of_their_parents() {
    insta::assert_snapshot!(
        check(
            "CREATE TABLE a (id INT PRIMARY KEY, tenant_id INT NOT NULL) PARTITION BY RANGE (id);\n\
             CREATE TABLE a_1 PARTITION OF a FOR VALUES FROM (1) TO (2);\n\
             CREATE TABLE b (LIKE a INCLUDING ALL);\nCREATE TABLE c (x INT) INHERITS (a);\nCREATE TABLE d LIKE missing;\n\
             CREATE TABLE e AS SELECT 1;\nALTER TABLE a ATTACH PARTITION a_1 FOR VALUES IN (1);"
        ),
        @r"
        a (line 1): tenant-scoped by tenant_id
          column     type  null  default  key
          id         INT   no             PK
          tenant_id  INT   no

        a_1 (line 2): tenant-scoped by tenant_id
          column     type  null  default  key
          id         INT   no             PK
          tenant_id  INT   no
          note: it has the columns of `a`

        b (line 3): tenant-scoped by tenant_id
          column     type  null  default  key
          id         INT   no
          tenant_id  INT   no
          note: it has the columns of `a`
          note: it has no primary key

        c (line 4): tenant-scoped by tenant_id
          column     type  null  default  key
          id         INT   no
          tenant_id  INT   no
          x          INT   yes
          note: it has the columns of `a`
          note: it has no primary key

        d (line 5): global
          column  type  null  default  key
          note: it has the columns of `missing`, which is not in the schema

        e (line 6): global
          column  type  null  default  key
          note: its columns are those of a query
        "
    );
}
