/** Step 16: where a camera is asked by ONVIF. */
export const onvif = `
ALTER TABLE cameras ADD COLUMN onvif TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(onvif));
`;
