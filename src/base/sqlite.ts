import type Sqlite from 'better-sqlite3';

/**
 * The library of all databases. Its version 12 ends the process on Node 24.19 and later, when garbage is collected while no
 * JavaScript runs: Node's ObjectWrap, of which its objects are made, asks for an environment that isn't entered then. Version
 * 13 is made otherwise, and takes Node 22 or later; so it is installed beside, where Node lets it be.
 */
const isNew = Number.parseInt(process.versions.node, 10) >= 22;
const name: string = isNew ? 'better-sqlite3-13' : 'better-sqlite3';

const load = async (): Promise<{ readonly default: typeof Sqlite }> => {
  try {
    return await import(name);
  } catch (cause) {
    const { node } = process.versions;
    throw new Error(
      `${name} can not be loaded: packages that another Node installed do not fit ${node}; run npm ci again`,
      { cause },
    );
  }
};

export const { default: Database } = await load();
