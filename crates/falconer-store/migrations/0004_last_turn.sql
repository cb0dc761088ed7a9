-- How the last turn of a session ended, and with which event: JSON, NULL before the first end.
ALTER TABLE sessions ADD COLUMN last_turn TEXT;
