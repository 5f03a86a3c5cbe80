/** Step 10: walls of cameras, own and shared ones; what an admin sets of the service while it runs. */
export const layouts = `
CREATE TABLE layouts (
  id TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  shared INTEGER NOT NULL CHECK (shared IN (0, 1)),
  grid TEXT NOT NULL,
  source TEXT NOT NULL CHECK (json_valid(source)),
  tiles TEXT NOT NULL CHECK (json_valid(tiles)),
  tour_sec INTEGER NOT NULL CHECK (tour_sec >= 0),
  enlarge_on_event INTEGER NOT NULL CHECK (enlarge_on_event IN (0, 1)),
  CHECK (shared = 1 OR owner <> '')
) STRICT;

CREATE INDEX layouts_by_owner ON layouts (owner);

CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
