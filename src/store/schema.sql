-- The newest state of the database, for people to read. The service itself runs the steps in migrations/;
-- a test proves that they lead to exactly this.
--
-- PRAGMA application_id says that the file is ours, PRAGMA user_version how many steps it has taken.
-- Column names are the field names of the JSON interface. Booleans are 0 or 1.

-- One row a camera. Runtime facts (state, fps, …) are never stored.
CREATE TABLE cameras (
  id TEXT NOT NULL PRIMARY KEY,            -- chosen by the client; also the name of its recordings folder
  url TEXT NOT NULL,                       -- rtsp:// or rtsps://, with the camera's credentials: never log it
  record INTEGER NOT NULL CHECK (record IN (0, 1)),          -- whether the stream is recorded
  retention_days INTEGER NOT NULL CHECK (retention_days >= 0), -- recordings older than this go; 0 keeps them for ever
  folder_id TEXT NOT NULL,                 -- '' for none; may name a folder that doesn't exist (yet), so no reference
  comment TEXT NOT NULL,                   -- free text
  sim_phone TEXT NOT NULL,                 -- phone number of the camera's SIM
  sim_iccid TEXT NOT NULL,                 -- serial number of that SIM
  lazy_hls INTEGER NOT NULL CHECK (lazy_hls IN (0, 1)),      -- make HLS segments only while someone watches
  transport TEXT NOT NULL CHECK (transport IN ('tcp', 'udp')), -- how RTP travels
  token_auth INTEGER NOT NULL CHECK (token_auth IN (0, 1)),  -- watching needs a token
  traffic_limit INTEGER NOT NULL CHECK (traffic_limit >= 0), -- megabytes (10^6 bytes) a calendar month, UTC; 0 is no cap
  disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),      -- not connected at all
  detect INTEGER NOT NULL CHECK (detect IN (0, 1)),          -- run the detector on its keyframes
  quirks TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(quirks)), -- JSON object: in what it is to be treated otherwise
  sub_url TEXT NOT NULL DEFAULT '',        -- its smaller stream, as url, never logged either; '' for none
  on_demand INTEGER NOT NULL DEFAULT 0 CHECK (on_demand IN (0, 1)), -- connected only while somebody wants its frames
  detection TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detection)), -- JSON object: which detections count
  record_mode TEXT NOT NULL DEFAULT 'continuous' CHECK (record_mode IN ('continuous', 'events')), -- events: the rest goes
  event_retention_days INTEGER NOT NULL DEFAULT 0 CHECK (event_retention_days >= 0), -- of what lies around events; 0: as the rest
  onvif TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(onvif)), -- JSON object: where it is asked by ONVIF, and as whom
  box TEXT                                 -- name of the box that it is pinned to; NULL: whichever has it by its hash
) STRICT;

-- The tags of each camera, in the order in which the client gave them.
CREATE TABLE camera_tags (
  camera_id TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE, -- whose tag
  tag_id TEXT NOT NULL,                    -- may name a tag that doesn't exist (yet), so no reference
  position INTEGER NOT NULL,               -- 0 is the first
  PRIMARY KEY (camera_id, tag_id)
) STRICT, WITHOUT ROWID;

-- Deleting a tag takes it off all cameras.
CREATE INDEX camera_tags_by_tag ON camera_tags (tag_id);

CREATE TABLE tags (
  id TEXT NOT NULL PRIMARY KEY,            -- chosen by the client
  name TEXT NOT NULL,                      -- shown to people
  color TEXT NOT NULL                      -- #RRGGBB
) STRICT;

-- A tree: no folder is its own ancestor (held by the program; SQL alone can't say it).
CREATE TABLE folders (
  id TEXT NOT NULL PRIMARY KEY,            -- chosen by the client
  name TEXT NOT NULL,                      -- shown to people
  parent_id TEXT REFERENCES folders (id) DEFERRABLE INITIALLY DEFERRED -- NULL for a root folder ('' in JSON)
) STRICT;

-- Deleting a folder gives its sub-folders to its parent.
CREATE INDEX folders_by_parent ON folders (parent_id);

CREATE TABLE users (
  username TEXT NOT NULL PRIMARY KEY,      -- compared exactly, upper and lower case differ
  password_hash TEXT NOT NULL,             -- $scrypt$…, parameters included; never the password
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'service')), -- what it may do: auth/permissions.ts
  token_epoch TEXT NOT NULL,               -- random; tokens of an earlier one are revoked. New with each other right
  folders TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(folders)) -- JSON array: sees these alone; null: everything
) STRICT;

-- Keys of programs.
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,            -- random; no secret: tokens that come of it name it
  name TEXT NOT NULL UNIQUE,               -- what it is called, in the audit log too
  secret_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the key, in hex; never that itself
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'service')), -- what it may do: auth/permissions.ts
  folders TEXT NOT NULL CHECK (json_valid(folders)), -- JSON array: sees these folders, and those cameras, alone
  cameras TEXT NOT NULL CHECK (json_valid(cameras)), -- JSON array; both null: everything
  created_ms INTEGER NOT NULL,             -- wall time at which it was made
  expires_ms INTEGER,                      -- wall time from which on it is good for nothing; NULL: never
  used_ms INTEGER                          -- wall time of its last use, to within a minute; NULL: none
) STRICT, WITHOUT ROWID;

-- What each camera sent, for traffic_limit and for reports.
CREATE TABLE traffic (
  camera_id TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE, -- whose traffic
  month TEXT NOT NULL,                     -- calendar month in UTC, such as 2026-11
  used_bytes INTEGER NOT NULL CHECK (used_bytes >= 0), -- received from the camera in that month
  PRIMARY KEY (camera_id, month)
) STRICT, WITHOUT ROWID;

-- What the service remembers of itself; no part of a backup.
CREATE TABLE facts (
  name TEXT NOT NULL PRIMARY KEY,          -- which of them, see facts.ts
  value TEXT NOT NULL                      -- as text
) STRICT, WITHOUT ROWID;

-- From where each name logged in of late; no reference to users, so that an import of the same users keeps it.
CREATE TABLE logins (
  username TEXT NOT NULL,                  -- who
  place BLOB NOT NULL,                     -- keyed hash of name and address: auth/login-places.ts
  last_login_ms INTEGER NOT NULL,          -- wall time of the last login, to within a day
  PRIMARY KEY (username, place)
) STRICT, WITHOUT ROWID;

-- Cameras that were deleted, as long as recordings of theirs may be there.
CREATE TABLE deleted_cameras (
  camera_id TEXT NOT NULL PRIMARY KEY,     -- also the name of its recordings folder
  retention_days INTEGER NOT NULL CHECK (retention_days >= 0), -- as the camera had it: so long its recordings are kept
  is_purged INTEGER NOT NULL CHECK (is_purged IN (0, 1)) -- whether all of its recordings are to go at once
) STRICT, WITHOUT ROWID;

-- Sessions of browsers. A row goes with its user, with another role or password, and with an import, which replaces
-- all users.
CREATE TABLE sessions (
  id TEXT NOT NULL PRIMARY KEY,            -- random; no secret: access tokens that come of it name it
  secret_hash BLOB NOT NULL UNIQUE,        -- SHA-256 of what the cookie holds; never that itself
  username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE, -- whose
  is_remembered INTEGER NOT NULL CHECK (is_remembered IN (0, 1)), -- whether it outlives the browser
  used_ms INTEGER NOT NULL,                -- wall time of its last use, to within ten minutes
  begun_ms INTEGER,                        -- wall time at which its user signed in; NULL: before this was kept
  user_agent TEXT NOT NULL DEFAULT ''      -- what the browser called itself then, as far as it is kept; '': not said
) STRICT, WITHOUT ROWID;

-- Another password ends the sessions of its user.
CREATE INDEX sessions_by_user ON sessions (username);

-- What pages keep for each user; no reference to users, so that an import of the same users keeps it.
CREATE TABLE preferences (
  username TEXT NOT NULL PRIMARY KEY,      -- whose
  content TEXT NOT NULL CHECK (json_valid(content)) -- a JSON object, which pages alone understand
) STRICT;

-- Walls of cameras. No references: cameras, folders and tags may be gone or not there yet, and an import of the same users
-- keeps theirs.
CREATE TABLE layouts (
  id TEXT NOT NULL PRIMARY KEY,            -- random
  owner TEXT NOT NULL,                     -- whose; '' if that user is gone, which shared ones outlive
  name TEXT NOT NULL,                      -- shown to people
  shared INTEGER NOT NULL CHECK (shared IN (0, 1)), -- whether everybody sees it
  grid TEXT NOT NULL,                      -- how the wall is divided, such as 3x3 or 1+7
  source TEXT NOT NULL CHECK (json_valid(source)), -- JSON object: by hand, or all cameras of a folder or tag
  tiles TEXT NOT NULL CHECK (json_valid(tiles)), -- JSON array: which camera stands where
  tour_sec INTEGER NOT NULL CHECK (tour_sec >= 0), -- how long each page is shown; 0: until somebody turns it
  enlarge_on_event INTEGER NOT NULL CHECK (enlarge_on_event IN (0, 1)), -- whether a camera with an event becomes large
  CHECK (shared = 1 OR owner <> '')
) STRICT;

-- Deleting a user takes along what nobody else sees.
CREATE INDEX layouts_by_owner ON layouts (owner);

-- What an admin set of the service while it runs.
CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,          -- which of them, see settings.ts
  value TEXT NOT NULL                      -- as text
) STRICT, WITHOUT ROWID;

-- The audit log of the last 90 days. No reference to users, so that what a user did stays; no part of a backup.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,                  -- counts up
  time_ms INTEGER NOT NULL,                -- when, in ms since 1970
  action TEXT NOT NULL,                    -- what was done, or tried
  username TEXT NOT NULL,                  -- by whom; '': nobody knows
  record TEXT NOT NULL CHECK (json_valid(record)) -- JSON object: all of it, as the log has it
) STRICT;

-- The newest, also of an action or a user.
CREATE INDEX audit_by_time ON audit (time_ms);
CREATE INDEX audit_by_action ON audit (action, time_ms);
CREATE INDEX audit_by_user ON audit (username, time_ms);

-- Who is told of what happens. No references: a camera that is named may be gone, and come back.
CREATE TABLE webhooks (
  id TEXT NOT NULL PRIMARY KEY,            -- random
  name TEXT NOT NULL,                      -- shown to people
  url TEXT NOT NULL,                       -- where to, with its password
  secret TEXT NOT NULL,                    -- that messages are signed with: whsec_ and base64
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)), -- whether messages are collected and sent
  types TEXT NOT NULL CHECK (json_valid(types)), -- JSON array: of which types of events; empty: of all
  camera_ids TEXT NOT NULL CHECK (json_valid(camera_ids)), -- JSON array: of which cameras; empty: of all
  labels TEXT NOT NULL CHECK (json_valid(labels)) -- JSON array: of what was seen; empty: of all
) STRICT;

-- Which cameras this box of a cluster had, and when: what it recorded then has the epoch of that (src/cluster/README.md).
CREATE TABLE holdings (
  camera_id TEXT NOT NULL,                 -- no reference: what a deleted camera recorded has its epoch still
  since_ms INTEGER NOT NULL,               -- wall time from which on it was this box's
  until_ms INTEGER,                        -- wall time at which it was let go; NULL: not yet, or nobody could write it down
  epoch INTEGER NOT NULL CHECK (epoch > 0), -- where recordings of two boxes overlap the higher one counts
  PRIMARY KEY (camera_id, since_ms)
) STRICT, WITHOUT ROWID;
