import type Database from 'better-sqlite3';
import { configuration } from './migrations/001-configuration.js';
import { traffic } from './migrations/002-traffic.js';
import { facts } from './migrations/003-facts.js';
import { logins } from './migrations/004-logins.js';
import { deletedCameras } from './migrations/005-deleted-cameras.js';
import { quirks } from './migrations/006-quirks.js';
import { subStream } from './migrations/007-sub-stream.js';
import { sessions } from './migrations/008-sessions.js';
import { preferences } from './migrations/009-preferences.js';
import { layouts } from './migrations/010-layouts.js';
import { detection } from './migrations/011-detection.js';
import { audit } from './migrations/012-audit.js';
import { browsers } from './migrations/013-browsers.js';
import { eventRecording } from './migrations/014-event-recording.js';
import { webhooks } from './migrations/015-webhooks.js';
import { onvif } from './migrations/016-onvif.js';
import { keys } from './migrations/017-keys.js';
import { boxes } from './migrations/018-boxes.js';

/** Step n brings a database from version n - 1 to n; new steps are added at the end. */
export const steps: readonly string[] = [
  configuration,
  traffic,
  facts,
  logins,
  deletedCameras,
  quirks,
  subStream,
  sessions,
  preferences,
  layouts,
  detection,
  audit,
  browsers,
  eventRecording,
  webhooks,
  onvif,
  keys,
  boxes,
];

/** `Frmg`: in the header of each database of ours (SQLite file format, section 1.3.14). */
export const APPLICATION_ID = 0x46_72_6d_67;

/** Takes all steps that are missing, up to version `target`: all of them or, after a crash, none. */
export const migrate = (db: Database.Database, target = steps.length): void => {
  const takeSteps = (): void => {
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version >= target) return;
    for (const step of steps.slice(version, target)) db.exec(step);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${target}`);
  };
  db.transaction(takeSteps).immediate();
};
