/** Step 8: sessions of browsers, so that a restart signs nobody out. */
export const sessions = `
CREATE TABLE sessions (
  id TEXT NOT NULL PRIMARY KEY,
  secret_hash BLOB NOT NULL UNIQUE,
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
  is_remembered INTEGER NOT NULL CHECK (is_remembered IN (0, 1)),
  used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_user ON sessions (username);
`;
