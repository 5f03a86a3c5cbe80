/** Step 4: from where each name logged in of late, so that failures elsewhere lock nobody out there. */
export const logins = `
CREATE TABLE logins (
  username TEXT NOT NULL,
  place BLOB NOT NULL,
  last_login_ms INTEGER NOT NULL,
  PRIMARY KEY (username, place)
) STRICT, WITHOUT ROWID;
`;
