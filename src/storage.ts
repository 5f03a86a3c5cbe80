import { join } from 'node:path';
import { Accounts } from './auth/accounts.js';
import { loadJwtSecret } from './auth/jwt-secret.js';
import { Tokens } from './auth/tokens.js';
import { ViewingSessions } from './auth/viewing-sessions.js';
import type { Clock } from './base/clock.js';
import { AppError, messageOf } from './base/errors.js';
import type { Logger } from './base/log.js';
import { checkWritable, makeFolder } from './base/make-folder.js';
import type { Config } from './config.js';
import { type FolderLock, lockArchiveDir, lockDataDir } from './store/folder-lock.js';
import { Store } from './store/store.js';

export type StorageDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Shows the first admin's password to the person at the console. */
  readonly showAdmin: (account: { username: string; password: string }) => void;
};

/** Takes what undoes a step. */
type Stops = { push(stop: () => void | Promise<void>): void };

/** What lasts, and what stands on it directly. */
export type Storage = {
  readonly store: Store;
  readonly sessions: ViewingSessions;
  readonly tokens: Tokens;
  readonly accounts: Accounts;
};

/** Tries a folder of the configuration, so that one which is of no use is told by its variable's name. */
const tryFolder = (variable: string, path: string, attempt: (path: string) => void): void => {
  try {
    attempt(path);
  } catch (cause) {
    const message = `${variable}=${JSON.stringify(path)} can't be used: ${messageOf(cause)}`;
    throw new AppError('bad_config', message, { cause });
  }
};

const makeFolders = ({ dataDir, archiveDir, modelsDir }: Config): void => {
  tryFolder('DATA_DIR', dataDir, makeFolder);
  tryFolder('DATA_DIR', dataDir, checkWritable);
  tryFolder('ARCHIVE_DIR', archiveDir, makeFolder);
  tryFolder('ARCHIVE_DIR', archiveDir, checkWritable);
  // Models may be provided on a file system that can only be read.
  tryFolder('MODELS_DIR', modelsDir, makeFolder);
};

/** Two services would write over each other's recordings. */
const lockArchive = ({ archiveDir }: Config, log: Logger): FolderLock => {
  let lock: FolderLock | null = null;
  try {
    lock = lockArchiveDir(archiveDir);
  } catch (fault) {
    // Such as file systems of a network that know no locks: nothing to refuse the start for.
    log.warn('the folder of the recordings has no locks: no other service may use it', {
      dir: archiveDir,
      reason: messageOf(fault),
    });
    return { release: () => {} };
  }
  if (lock !== null) return lock;
  const message = `ARCHIVE_DIR=${JSON.stringify(archiveDir)} can't be used: another process uses it`;
  throw new AppError('bad_config', message);
};

/** Opens the folders and the database for this process alone; throws `bad_config` where one of them is of no use. */
export const openStorage = async (config: Config, deps: StorageDeps, stops: Stops): Promise<Storage> => {
  const { clock, log } = deps;
  makeFolders(config);
  const dataLock = lockDataDir(config.dataDir);
  stops.push(() => dataLock.release());
  const archiveLock = lockArchive(config, log);
  stops.push(() => archiveLock.release());
  const store = new Store(join(config.dataDir, 'framering.db'));
  stops.push(() => store.close());
  const sessions = new ViewingSessions({ clock, log });
  const { users, logins } = store;
  const secret = loadJwtSecret(config.dataDir, config.jwtSecret);
  const tokens = new Tokens(secret, { users, clock });
  const accounts = new Accounts(secret, { users, logins, tokens, sessions, clock });
  await accounts.ensureAdmin(deps.showAdmin);
  return { store, sessions, tokens, accounts };
};
