/** Step 7: a smaller stream beside a camera's own; a camera that is connected only while it is wanted. */
export const subStream = `
ALTER TABLE cameras ADD COLUMN sub_url TEXT NOT NULL DEFAULT '';
ALTER TABLE cameras ADD COLUMN on_demand INTEGER NOT NULL DEFAULT 0 CHECK (on_demand IN (0, 1));
`;
