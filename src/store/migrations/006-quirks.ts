/** Step 6: what a camera needs otherwise than others do. */
export const quirks = `
ALTER TABLE cameras ADD COLUMN quirks TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(quirks));
`;
