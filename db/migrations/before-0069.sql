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
CREATE TABLE price_check (
  id SERIAL NOT NULL,
  processor VARCHAR(63) NOT NULL,
  measured_id INTEGER NOT NULL,
  counted_id INTEGER NOT NULL,
  host VARCHAR(200) NOT NULL,
  emulated BOOLEAN NOT NULL,
  clock VARCHAR NOT NULL,
  at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
  rows JSONB NOT NULL,
  held INTEGER NOT NULL,
  checked INTEGER NOT NULL,
  whole_held INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  signs_right INTEGER NOT NULL,
  signs INTEGER NOT NULL,
  CONSTRAINT pk_price_check PRIMARY KEY (id),
  CONSTRAINT uq_price_check_processor_measured_id_counted_id_host UNIQUE (processor, measured_id, counted_id, host),
  CONSTRAINT ck_price_check_clock CHECK (clock IN ('real', 'counted')),
  CONSTRAINT ck_price_check_rows CHECK (jsonb_array_length(rows) <= 2000),
  CONSTRAINT fk_price_check_measured_id_experiment FOREIGN KEY(measured_id) REFERENCES experiment (id) ON DELETE CASCADE,
  CONSTRAINT fk_price_check_counted_id_experiment FOREIGN KEY(counted_id) REFERENCES experiment (id) ON DELETE CASCADE
);

CREATE INDEX ix_price_check_counted_id ON price_check (counted_id);

CREATE INDEX ix_price_check_measured_id ON price_check (measured_id);

ALTER TABLE series_request DROP CONSTRAINT ck_series_request_asked;
ALTER TABLE series_request ADD CONSTRAINT ck_series_request_asked CHECK (asked IN
  ('test', 'fix', 'which-patch', 'select', 'variants', 'stop', 'regression', 'unclear'));

ALTER TABLE backup ADD COLUMN rows bigint DEFAULT 0 NOT NULL;
ALTER TABLE digest ADD COLUMN template varchar DEFAULT 'json' NOT NULL
  CONSTRAINT ck_digest_template CHECK (template IN ('json', 'slack', 'mattermost', 'matrix'));
ALTER TABLE digest ALTER COLUMN template DROP DEFAULT;
ALTER TABLE subscription DROP CONSTRAINT uq_subscription_owner_kind_subject_way_address;
ALTER TABLE subscription ADD COLUMN template varchar DEFAULT 'json' NOT NULL
  CONSTRAINT ck_subscription_template CHECK (template IN ('json', 'slack', 'mattermost', 'matrix'));
ALTER TABLE subscription ADD CONSTRAINT uq_subscription_owner_kind_subject_way_address_template
  UNIQUE (owner, kind, subject, way, address, template);
CREATE TABLE limit_file (
  name VARCHAR NOT NULL CONSTRAINT pk_limit_file PRIMARY KEY,
  text VARCHAR NOT NULL,
  lines INTEGER NOT NULL,
  set_by VARCHAR NOT NULL,
  set_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE limit_outcome ADD COLUMN file varchar DEFAULT '' NOT NULL;
ALTER TABLE limit_outcome ALTER COLUMN file DROP DEFAULT;

ALTER TABLE bisection ADD COLUMN end_shares jsonb;
ALTER TABLE bisection_candidate ADD COLUMN functions jsonb DEFAULT '[]' NOT NULL;

ALTER TABLE trend ADD COLUMN notes jsonb DEFAULT '[]' NOT NULL;
ALTER TABLE trend_arm ADD COLUMN notes jsonb DEFAULT '[]' NOT NULL;
ALTER TABLE trend_arm ALTER COLUMN notes DROP DEFAULT;
ALTER TABLE trend_change ADD COLUMN moved_to jsonb DEFAULT '[]' NOT NULL;
ALTER TABLE trend_change ALTER COLUMN moved_to DROP DEFAULT;
