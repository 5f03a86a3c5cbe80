import { join } from 'node:path';
import { ArchiveRoot } from './archive/archive-root.js';
import { Accounts } from './auth/accounts.js';
import { ApiKeys, isKeyName } from './auth/api-keys.js';
import { loadJwtSecret } from './auth/jwt-secret.js';
import { OnvifPasswords } from './auth/onvif-passwords.js';
import { Sessions } from './auth/sessions.js';
import { Sights } from './auth/sight.js';
import { limitsOf, Tokens } from './auth/tokens.js';
import { Viewers } from './auth/viewers.js';
import type { Clock } from './base/clock.js';
import { AppError, messageOf } from './base/errors.js';
import type { Logger } from './base/log.js';
import { checkWritable, makeFolder } from './base/make-folder.js';
import { Signal } from './base/signal.js';
import type { Cluster } from './cluster/cluster.js';
import type { ClusterConfig, Config } from './config.js';
import { EventLog } from './events/kept/event-log.js';
import { PictureFiles } from './events/kept/picture-files.js';
import type { Stops } from './stops.js';
import { lockArchiveDir, lockDataDir } from './store/folder-lock.js';
import { Store } from './store/store.js';

export type StorageDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Shows the first admin's password to the person at the console. */
  readonly showAdmin: (account: { username: string; password: string }) => void;
};

/** What lasts, and what stands on it directly. */
export type Storage = {
  readonly store: Store;
  readonly root: ArchiveRoot;
  readonly viewers: Viewers;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly keys: ApiKeys;
  readonly onvifPasswords: OnvifPasswords;
  /** A key that nobody has was shown from this address, or its password for ONVIF. */
  readonly wrongKey: Signal<[address: string]>;
  /** Says so; throws `too_many_attempts`. */
  readonly onWrongKey: (address: string) => void;
  readonly sights: Sights;
  /** What happened. */
  readonly events: EventLog;
  /** Pictures of some of that. */
  readonly eventPictures: PictureFiles;
  /** The boxes that this one is one of; null: it is alone. */
  readonly cluster: Cluster | null;
  /** What boxes of the cluster know each other by that ask for pictures; null: this one is alone. */
  readonly relayKey: Buffer | null;
};

/** A folder of the configuration that is of no use is told by its variable's name. */
const unusable = (variable: string, path: string, cause: unknown): AppError =>
  new AppError('bad_config', `${variable}=${JSON.stringify(path)} can't be used: ${messageOf(cause)}`, {
    cause,
  });

const tryFolder = (variable: string, path: string, attempt: (path: string) => void): void => {
  try {
    attempt(path);
  } catch (cause) {
    throw unusable(variable, path, cause);
  }
};

const makeFolders = ({ dataDir, modelsDir }: Config): void => {
  tryFolder('DATA_DIR', dataDir, makeFolder);
  tryFolder('DATA_DIR', dataDir, checkWritable);
  // Models may be provided on a file system that can only be read.
  tryFolder('MODELS_DIR', modelsDir, makeFolder);
};

const openArchiveRoot = async (
  { archiveDir }: Config,
  { facts }: Store,
  deps: StorageDeps,
): Promise<ArchiveRoot> => {
  const root = new ArchiveRoot(archiveDir, {
    ...{ clock: deps.clock, log: deps.log, lock: lockArchiveDir },
    memory: {
      known: () => {
        const [id, dir] = [facts.text('archive_id'), facts.text('archive_dir')];
        return id === null || dir === null ? null : { id, dir };
      },
      remember: ({ id, dir }) => {
        facts.setText('archive_id', id);
        facts.setText('archive_dir', dir);
      },
    },
  });
  try {
    await root.open();
  } catch (cause) {
    await root.stop();
    throw unusable('ARCHIVE_DIR', archiveDir, cause);
  }
  return root;
};

/** What a box alone never loads. */
const joinCluster = async (
  config: ClusterConfig,
  { boxName, dataDir }: Config,
  deps: StorageDeps,
  store: Store,
): Promise<{ readonly cluster: Cluster; readonly jwtSecret: string; readonly relayKey: Buffer }> => {
  const { Cluster } = await import('./cluster/cluster.js');
  const { derivedKey } = await import('./cluster/sealed-text.js');
  const cluster = await Cluster.start(
    { ...config, boxName, dataDir },
    { clock: deps.clock, log: deps.log, store },
  );
  // A token of one box is good at all of them.
  const jwtSecret = derivedKey(config.secret, config.clusterName, 'tokens').toString('base64url');
  return { cluster, jwtSecret, relayKey: derivedKey(config.secret, config.clusterName, 'relay') };
};

/** Opens the folders and the database for this process alone; throws `bad_config` where one of them is of no use. */
export const openStorage = async (config: Config, deps: StorageDeps, stops: Stops): Promise<Storage> => {
  const { clock, log } = deps;
  makeFolders(config);
  const dataLock = lockDataDir(config.dataDir);
  stops.push(() => dataLock.release());
  const store = new Store(join(config.dataDir, 'framering.db'));
  stops.push(() => store.close());
  const joined = config.cluster && (await joinCluster(config.cluster, config, deps, store));
  if (joined !== null) stops.push(() => joined.cluster.stop());
  const events = new EventLog(join(config.dataDir, 'events.db'), {
    ...{ clock, log },
    protectedMemory: {
      stored: () => store.facts.text('protected_events'),
      store: (text) => store.facts.setText('protected_events', text),
    },
  });
  stops.push(() => events.stop());
  const eventPictures = new PictureFiles(join(config.dataDir, 'event-pictures'), { log });
  await eventPictures.start();
  const root = await openArchiveRoot(config, store, deps);
  stops.push(() => root.stop());
  const viewers = new Viewers({ clock, log });
  const { change, users, logins, facts } = store;
  const secret = loadJwtSecret(config.dataDir, config.jwtSecret ?? joined?.jwtSecret ?? null);
  const wrongKey = new Signal<[address: string]>();
  const onWrongKey = (address: string): void => {
    accounts.wrongKey(address);
    wrongKey.emit(address);
  };
  const keys = new ApiKeys({
    table: store.keys,
    change: store.change,
    viewers,
    clock,
    log,
    onWrong: onWrongKey,
  });
  stops.push(() => keys.stop());
  const tokens = new Tokens(secret, { users, keys, clock });
  const sessions = new Sessions({ sessions: store.sessions, users, tokens, clock });
  const accounts = new Accounts(secret, { change, users, logins, facts, tokens, sessions, viewers, clock });
  const sights = new Sights({
    ...{ cameras: store.cameras, folders: store.folders, viewers },
    limitsOf: (name) => {
      if (isKeyName(name)) return keys.find(name)?.limits ?? null;
      const user = users.find(name);
      return user === null ? null : limitsOf(user);
    },
  });
  let hasShown = false;
  const show: StorageDeps['showAdmin'] = (account) => {
    hasShown = true;
    deps.showAdmin(account);
  };
  if (!(await accounts.ensureAdmin(show)) && hasShown)
    log.warn('another box made the administrator meanwhile: use the password that was shown there');
  const onvifPasswords = new OnvifPasswords(secret, { keys });
  return {
    ...{
      store,
      root,
      viewers,
      tokens,
      sessions,
      accounts,
      keys,
      onvifPasswords,
      wrongKey,
      onWrongKey,
      sights,
    },
    ...{ events, eventPictures, cluster: joined?.cluster ?? null, relayKey: joined?.relayKey ?? null },
  };
};
