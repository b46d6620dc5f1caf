CREATE TABLE oidc_person (
  id SERIAL NOT NULL,
  issuer VARCHAR NOT NULL,
  sub VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  role VARCHAR NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
  seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
  CONSTRAINT pk_oidc_person PRIMARY KEY (id),
  CONSTRAINT ck_oidc_person_role CHECK (role IN ('viewer', 'runner', 'submitter', 'approver', 'admin')),
  CONSTRAINT uq_oidc_person_issuer_sub UNIQUE (issuer, sub),
  CONSTRAINT uq_oidc_person_subject UNIQUE (subject)
);

CREATE TABLE used_log_in (
  hash VARCHAR NOT NULL,
  until TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_used_log_in PRIMARY KEY (hash)
);

CREATE INDEX ix_used_log_in_until ON used_log_in (until);

ALTER TABLE browser_session ADD COLUMN person_id integer
  CONSTRAINT fk_browser_session_person_id_oidc_person REFERENCES oidc_person (id);
