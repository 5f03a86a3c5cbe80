/** Step 13: when a browser was signed in, and what it called itself. */
export const browsers = `
ALTER TABLE sessions ADD COLUMN begun_ms INTEGER;
ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
`;
