--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public;

CREATE TYPE billing.invoice_state AS ENUM (
    'draft',
    'sent; unpaid',
    'paid'
);

CREATE FUNCTION billing.touch() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    CREATE TABLE inside_function (x integer);
    NEW.updated_at = now();
    RETURN NEW;
END;
$$;

CREATE TABLE billing.invoice (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id bigint NOT NULL,
    number character varying(20) NOT NULL,
    state billing.invoice_state DEFAULT 'draft'::billing.invoice_state NOT NULL,
    total numeric(14,2) DEFAULT 0.00 NOT NULL,
    tags text[] DEFAULT '{}'::text[],
    payload jsonb,
    due_on date,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT total_positive CHECK ((total >= (0)::numeric))
);

ALTER TABLE billing.invoice OWNER TO billing;

COMMENT ON TABLE billing.invoice IS 'What a tenant bills; one row per invoice';
COMMENT ON COLUMN billing.invoice.number IS 'Printed on the invoice';

CREATE TABLE billing.invoice_line (
    invoice_id uuid NOT NULL,
    line_no smallint NOT NULL,
    text character varying(500) NOT NULL,
    amount numeric(14,2) NOT NULL
);

CREATE SEQUENCE billing.note_id_seq
    START WITH 1
    INCREMENT BY 50
    CACHE 1;

CREATE TABLE billing.note (
    id bigint NOT NULL,
    body text
);

ALTER TABLE ONLY billing.note ALTER COLUMN id SET DEFAULT nextval('billing.note_id_seq'::regclass);

COPY billing.note (id, body) FROM stdin;
1	it's; CREATE TABLE not_a_table (x int);
2	"open
\.

ALTER TABLE ONLY billing.invoice
    ADD CONSTRAINT invoice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY billing.invoice
    ADD CONSTRAINT invoice_number_key UNIQUE (number);
ALTER TABLE ONLY billing.invoice_line
    ADD CONSTRAINT invoice_line_pkey PRIMARY KEY (invoice_id, line_no);
ALTER TABLE ONLY billing.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX invoice_tenant_number ON billing.invoice USING btree (tenant_id, number);
CREATE UNIQUE INDEX invoice_open ON billing.invoice USING btree (tenant_id) WHERE (state = 'draft'::billing.invoice_state);
CREATE INDEX invoice_due ON billing.invoice USING btree (due_on);

CREATE TRIGGER invoice_touch BEFORE UPDATE ON billing.invoice FOR EACH ROW EXECUTE FUNCTION billing.touch();

ALTER TABLE ONLY billing.invoice_line
    ADD CONSTRAINT invoice_line_invoice_fkey FOREIGN KEY (invoice_id) REFERENCES billing.invoice(id) ON DELETE CASCADE;
