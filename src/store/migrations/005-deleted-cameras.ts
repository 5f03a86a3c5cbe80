/** Step 5: cameras that were deleted while recordings of theirs are there, so that those go in time as well. */
export const deletedCameras = `
CREATE TABLE deleted_cameras (
  camera_id TEXT NOT NULL PRIMARY KEY,
  retention_days INTEGER NOT NULL CHECK (retention_days >= 0),
  is_purged INTEGER NOT NULL CHECK (is_purged IN (0, 1))
) STRICT, WITHOUT ROWID;
`;
