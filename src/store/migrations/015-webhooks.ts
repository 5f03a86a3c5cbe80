/** Step 15: who is told of what happens. */
export const webhooks = `
CREATE TABLE webhooks (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  types TEXT NOT NULL CHECK (json_valid(types)),
  camera_ids TEXT NOT NULL CHECK (json_valid(camera_ids)),
  labels TEXT NOT NULL CHECK (json_valid(labels))
) STRICT;
`;
