-- Processes that may run sessions: what others need to know of them, and until when they are
-- believed to live.
CREATE TABLE nodes (
    id          TEXT    PRIMARY KEY,
    about       TEXT    NOT NULL,
    lease_until INTEGER NOT NULL,
    lease_boot  TEXT,
    lease_mono  INTEGER
) STRICT;

-- The end of a lease by a clock that nobody sets: microseconds of the monotonic clock, which
-- counts within one boot of a machine. A lease of another boot is judged by `lease_until`.
ALTER TABLE sessions ADD COLUMN lease_boot TEXT;
ALTER TABLE sessions ADD COLUMN lease_mono INTEGER;
