/** Step 3: what the service remembers of itself, such as the time that recordings were last judged by. */
export const facts = `
CREATE TABLE facts (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
