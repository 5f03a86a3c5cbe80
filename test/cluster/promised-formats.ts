import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { type Beat, beatText } from '../../src/cluster/boxes/beat.js';
import { keyName } from '../../src/cluster/key-names.js';
import { type Report, reportBytes } from '../../src/cluster/owners/report.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import type { Described } from '../../src/relay/wire/texts.js';
import { describedFields } from '../../src/relay/wire/texts.js';
import { aliveMessage, SeenMessage, textMessage } from '../../src/relay/wire/write.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { frameMessage, type SaidFrame } from '../relay/wire-log.js';
import { sampleCamera } from '../store/samples.js';
import { streamInfo } from '../support/ring.js';

export const BEAT: Beat = {
  ...{ box: 'box-1', boot: 'b00t', seq: 7, state: 'leaving', capacity: 2, load: 0.5, cameras: 3 },
  ...{ address: 'https://box-1.site:8080', relayPort: 7440, version: '0.1.0' },
  ...{ store: null, wallMs: null, hears: [{ box: 'box-2', boot: 'b00t-2' }] },
};

export const REPORT: Report = {
  ...{ box: 'box-1', boot: 'b00t', seq: 9, part: [0, 1], dropped: ['gone'] },
  rows: [
    {
      cameraId: 'gate.1',
      epoch: 4,
      isClaimed: true,
      isReady: true,
      isFailing: false,
      isTrial: false,
      isSilent: false,
      endsThreads: false,
      figures: ['streaming', 25],
    },
    {
      cameraId: 'yard',
      epoch: 5,
      isClaimed: false,
      isReady: false,
      isFailing: true,
      isTrial: true,
      isSilent: false,
      endsThreads: false,
      figures: null,
    },
  ],
};

export const DESCRIBED: Described = { ring: -5, awaitsSound: true, info: streamInfo(3) };

export const FRAME: SaidFrame = {
  ...{ isVideo: true, flags: 1, sequence: -7, ptsTicks: 9_000, dtsTicks: 6_000, wallMs: 1.7e12, ageMs: 40 },
  bytes: Uint8Array.of(0, 0, 0, 2, 101, 1),
};

export const HELLO = { versions: [1, 1], box: 'box-1', source: 'gate.1' } as const;
export const WELCOME = { version: 1, path: ['box-2'] } as const;

export const SEALED = { name: 'cam/gate.1', text: 'a text', secret: 'a secret of all boxes' } as const;
export const sealedText = (): SealedText => new SealedText(derivedKey(SEALED.secret, 'test', 'settings'));

/** What a key may have in it. */
export const KEY = 'cam/gate.1 über=';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** One record of each kind, as the bucket has them. */
const records = (folder: string): Record<string, string> => {
  const store = new Store(join(folder, 'framering.db'));
  try {
    store.cameras.create(sampleCamera('gate.1', { tags: ['t'], folder_id: 'f', box: 'box-1', record: true }));
    store.tags.create({ id: 't', name: 'Tag', color: '#ff0000' });
    store.folders.create({ id: 'f', name: 'Folder', parent_id: '' });
    store.users.create({ username: 'root', password_hash: 'hash', role: 'admin' });
    return store.share((db) => ({
      change: async (work) => work(),
      all: Object.fromEntries(new SharedRecords(db).all()),
    })).all;
  } finally {
    store.close();
  }
};

/** All that boxes tell each other and keep for each other, as this version writes it. */
export const written = (folder: string) => ({
  beat: beatText(BEAT),
  report: base64(reportBytes(REPORT)),
  reportText: inflateRawSync(reportBytes(REPORT)).toString(),
  records: records(folder),
  keyName: keyName(KEY),
  sealed: base64(sealedText().seal(SEALED.name, SEALED.text)),
  relay: {
    hello: base64(textMessage('hello', HELLO)),
    welcome: base64(textMessage('welcome', WELCOME)),
    description: base64(textMessage('description', describedFields(DESCRIBED))),
    frame: base64(frameMessage(FRAME)),
    sound: base64(frameMessage({ ...FRAME, isVideo: false })),
    alive: base64(aliveMessage()),
    seen: base64(new SeenMessage().fill(1234)),
    end: base64(textMessage('end', { reason: 'why' })),
  },
});

export type Written = ReturnType<typeof written>;
