-- The directory in which a call would run: it is shown, and covered by the digest.
ALTER TABLE requests ADD COLUMN cwd TEXT;
