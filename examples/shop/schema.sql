-- A small web shop whose tables are shared by many tenants (PostgreSQL).
-- Tables with a tenant_id belong to one tenant per row; the others are global.

CREATE TABLE tenant (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug        VARCHAR(40)  NOT NULL UNIQUE,
    name        VARCHAR(120) NOT NULL,
    created_at  TIMESTAMPTZ  NOT NULL DEFAULT now()
);

CREATE TABLE country (
    code  CHAR(2)     PRIMARY KEY,
    name  VARCHAR(80) NOT NULL
);

CREATE TABLE customer (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     BIGINT       NOT NULL REFERENCES tenant (id),
    email         VARCHAR(254) NOT NULL,
    full_name     VARCHAR(160) NOT NULL,
    status        VARCHAR(20)  NOT NULL DEFAULT 'ACTIVE',
    country_code  CHAR(2)      REFERENCES country (code),
    credit_limit  NUMERIC(12, 2),
    created_at    TIMESTAMPTZ  NOT NULL DEFAULT now(),
    version       INTEGER      NOT NULL DEFAULT 0,
    CONSTRAINT uq_customer_email UNIQUE (tenant_id, email),
    CONSTRAINT uq_customer_tenant UNIQUE (tenant_id, id),
    CONSTRAINT ck_customer_status CHECK (status IN ('ACTIVE', 'BLOCKED', 'CLOSED'))
);

CREATE TABLE product (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  BIGINT         NOT NULL REFERENCES tenant (id),
    sku        VARCHAR(32)    NOT NULL,
    name       VARCHAR(200)   NOT NULL,
    price      NUMERIC(12, 2) NOT NULL CHECK (price >= 0),
    CONSTRAINT uq_product_sku UNIQUE (tenant_id, sku),
    CONSTRAINT uq_product_tenant UNIQUE (tenant_id, id)
);

CREATE TABLE customer_order (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    BIGINT      NOT NULL REFERENCES tenant (id),
    customer_id  BIGINT      NOT NULL,
    placed_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    note         TEXT,
    version      INTEGER     NOT NULL DEFAULT 0,
    CONSTRAINT uq_order_tenant UNIQUE (tenant_id, id),
    CONSTRAINT fk_order_customer FOREIGN KEY (tenant_id, customer_id) REFERENCES customer (tenant_id, id)
);

CREATE TABLE order_line (
    order_id    BIGINT         NOT NULL,
    line_no     INTEGER        NOT NULL,
    tenant_id   BIGINT         NOT NULL REFERENCES tenant (id),
    product_id  BIGINT         NOT NULL,
    quantity    INTEGER        NOT NULL CHECK (quantity > 0),
    unit_price  NUMERIC(12, 2) NOT NULL,
    PRIMARY KEY (order_id, line_no),
    CONSTRAINT fk_line_order FOREIGN KEY (tenant_id, order_id) REFERENCES customer_order (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_line_product FOREIGN KEY (tenant_id, product_id) REFERENCES product (tenant_id, id)
);

CREATE INDEX ix_order_customer ON customer_order (tenant_id, customer_id);
CREATE INDEX ix_line_product ON order_line (tenant_id, product_id);
