/** Step 18: which box of a cluster a camera is pinned to, and which cameras this one had, and when. */
export const boxes = `
ALTER TABLE cameras ADD COLUMN box TEXT;

CREATE TABLE holdings (
  camera_id TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  PRIMARY KEY (camera_id, since_ms)
) STRICT, WITHOUT ROWID;
`;
