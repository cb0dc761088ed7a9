-- Times are microseconds after 1970. JSON is text. Rows belong to a session by its small `key`.

-- One row. `rev` counts the transactions that changed a session or a rule; it is how another
-- process learns what changed.
CREATE TABLE meta (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    rev       INTEGER NOT NULL,
    rules_rev INTEGER NOT NULL
) STRICT;
INSERT INTO meta (one, rev, rules_rev) VALUES (1, 0, 0);

CREATE TABLE sessions (
    key            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT    NOT NULL UNIQUE,
    title          TEXT,
    engine         TEXT    NOT NULL,
    model          TEXT,
    mode           TEXT    NOT NULL,
    cwd            TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    native_session TEXT,
    run            TEXT,
    head           INTEGER NOT NULL DEFAULT 0,
    parent         INTEGER REFERENCES sessions (key) ON DELETE SET NULL,
    config         TEXT    NOT NULL,
    tokens         TEXT    NOT NULL,
    cost_usd       REAL    NOT NULL DEFAULT 0,
    pinned         INTEGER NOT NULL DEFAULT 0,
    archived       INTEGER NOT NULL DEFAULT 0,
    owner          TEXT,
    fence          INTEGER NOT NULL DEFAULT 0,
    lease_until    INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    rev            INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_time ON sessions (updated_at, id);
CREATE INDEX sessions_by_rev ON sessions (rev);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner IS NOT NULL;

-- Sessions that are gone, for watchers in other processes; old rows are pruned.
CREATE TABLE deleted (
    rev INTEGER NOT NULL,
    id  TEXT    NOT NULL
) STRICT;
CREATE INDEX deleted_by_rev ON deleted (rev);

-- Keys of deleted sessions whose events are still to be removed, some at a time.
CREATE TABLE doomed (
    session INTEGER PRIMARY KEY
) STRICT;

-- `position` is the session's key shifted left by 32 bits, plus the number of the event: one
-- tree, in the order it is read, with no second index to keep.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    json     TEXT NOT NULL
) STRICT;

CREATE TABLE inputs (
    key           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT    NOT NULL UNIQUE,
    session       INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    client_msg_id TEXT    NOT NULL,
    text          TEXT    NOT NULL,
    attachments   TEXT    NOT NULL,
    delivery      TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    sent_by       TEXT,
    created_at    INTEGER NOT NULL,
    UNIQUE (session, client_msg_id)
) STRICT;
CREATE INDEX inputs_queued ON inputs (session) WHERE state = 'queued';

CREATE TABLE requests (
    key          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    session      INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind         TEXT    NOT NULL,
    tool         TEXT,
    tool_use_id  TEXT,
    input        TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    title        TEXT,
    description  TEXT,
    blocked_path TEXT,
    reason       TEXT,
    suggestions  TEXT    NOT NULL,
    agent        TEXT,
    requested_at INTEGER NOT NULL,
    expires_at   INTEGER,
    state        TEXT    NOT NULL,
    decision     TEXT
) STRICT;
CREATE INDEX requests_by_session ON requests (session);
CREATE INDEX requests_pending ON requests (session) WHERE state = 'pending';

CREATE TABLE rules (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    text       TEXT    NOT NULL,
    effect     TEXT    NOT NULL,
    scope      TEXT    NOT NULL,
    session    INTEGER REFERENCES sessions (key) ON DELETE CASCADE,
    path       TEXT,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    used       INTEGER NOT NULL DEFAULT 0,
    last_used  INTEGER,
    CHECK ((scope = 'session') = (session IS NOT NULL)),
    CHECK ((scope = 'project') = (path IS NOT NULL))
) STRICT;
CREATE INDEX rules_by_session ON rules (session) WHERE session IS NOT NULL;

CREATE TABLE tokens (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    hash       TEXT    NOT NULL UNIQUE,
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    last_used  INTEGER,
    revoked_at INTEGER
) STRICT;

-- The session is a name, not a reference: what was done stays when the session is gone.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    who     TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    session TEXT,
    detail  TEXT    NOT NULL
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit cannot be changed');
END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit cannot be changed');
END;

CREATE TABLE contents (
    hash  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE blobs (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    hash       TEXT    NOT NULL REFERENCES contents (hash),
    name       TEXT,
    media_type TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX blobs_by_hash ON blobs (hash);

CREATE TABLE blob_uses (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    blob    INTEGER NOT NULL REFERENCES blobs (key) ON DELETE CASCADE,
    PRIMARY KEY (session, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_by_blob ON blob_uses (blob);
