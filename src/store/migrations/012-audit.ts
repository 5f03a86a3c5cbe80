/** Step 12: what was done, and by whom. */
export const audit = `
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  action TEXT NOT NULL,
  username TEXT NOT NULL,
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT;

CREATE INDEX audit_by_time ON audit (time_ms);
CREATE INDEX audit_by_action ON audit (action, time_ms);
CREATE INDEX audit_by_user ON audit (username, time_ms);
`;
