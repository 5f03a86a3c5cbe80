/** Step 17: keys of programs, and the folders that users are limited to. */
export const keys = `
ALTER TABLE users ADD COLUMN folders TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(folders));
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  secret_hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'service')),
  folders TEXT NOT NULL CHECK (json_valid(folders)),
  cameras TEXT NOT NULL CHECK (json_valid(cameras)),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  used_ms INTEGER
) STRICT, WITHOUT ROWID;
`;
