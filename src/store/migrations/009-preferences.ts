/** Step 9: what pages keep for each user. */
export const preferences = `
CREATE TABLE preferences (
  username TEXT NOT NULL PRIMARY KEY,
  content TEXT NOT NULL CHECK (json_valid(content))
) STRICT;
`;
