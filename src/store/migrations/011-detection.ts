/** Step 11: which detections of a camera count. */
export const detection = `
ALTER TABLE cameras ADD COLUMN detection TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detection));
`;
