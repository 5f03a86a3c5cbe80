/** Step 2: the bytes of each camera and month, so that `traffic_limit` outlives a restart. */
export const traffic = `
CREATE TABLE traffic (
  camera_id TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE,
  month TEXT NOT NULL,
  used_bytes INTEGER NOT NULL CHECK (used_bytes >= 0),
  PRIMARY KEY (camera_id, month)
) STRICT, WITHOUT ROWID;
`;
