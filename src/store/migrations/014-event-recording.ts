/** Step 14: what of a camera's recordings is kept for the events in them, and how long. */
export const eventRecording = `
ALTER TABLE cameras ADD COLUMN record_mode TEXT NOT NULL DEFAULT 'continuous'
  CHECK (record_mode IN ('continuous', 'events'));
ALTER TABLE cameras ADD COLUMN event_retention_days INTEGER NOT NULL DEFAULT 0 CHECK (event_retention_days >= 0);
`;
