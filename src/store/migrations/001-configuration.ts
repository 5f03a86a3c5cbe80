/** Step 1: cameras, tags, folders and users. A step that was released is never edited; `schema.sql` has the comments. */
export const configuration = `
CREATE TABLE cameras (
  id TEXT NOT NULL PRIMARY KEY,
  url TEXT NOT NULL,
  record INTEGER NOT NULL CHECK (record IN (0, 1)),
  retention_days INTEGER NOT NULL CHECK (retention_days >= 0),
  folder_id TEXT NOT NULL,
  comment TEXT NOT NULL,
  sim_phone TEXT NOT NULL,
  sim_iccid TEXT NOT NULL,
  lazy_hls INTEGER NOT NULL CHECK (lazy_hls IN (0, 1)),
  transport TEXT NOT NULL CHECK (transport IN ('tcp', 'udp')),
  token_auth INTEGER NOT NULL CHECK (token_auth IN (0, 1)),
  traffic_limit INTEGER NOT NULL CHECK (traffic_limit >= 0),
  disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  detect INTEGER NOT NULL CHECK (detect IN (0, 1))
) STRICT;

CREATE TABLE camera_tags (
  camera_id TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE,
  tag_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (camera_id, tag_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX camera_tags_by_tag ON camera_tags (tag_id);

CREATE TABLE tags (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  color TEXT NOT NULL
) STRICT;

CREATE TABLE folders (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  parent_id TEXT REFERENCES folders (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX folders_by_parent ON folders (parent_id);

CREATE TABLE users (
  username TEXT NOT NULL PRIMARY KEY,
  password_hash TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'service')),
  token_epoch TEXT NOT NULL
) STRICT;
`;
