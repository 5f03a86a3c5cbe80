import assert from 'node:assert/strict';
import type { z } from 'zod';
import { LoginLimiter } from '../../../src/auth/login-limiter.js';
import { bearerTokenOf, Tokens } from '../../../src/auth/tokens.js';
import { isNoneMatch, parseByteRange } from '../../../src/base/byte-range.js';
import { clientNetwork, ipv6Groups, isLoopback, plainAddress } from '../../../src/base/client-address.js';
import { systemClock } from '../../../src/base/clock.js';
import {
  cameraBatchSchema,
  cameraChangesSchema,
  cameraTestSchema,
  newCameraSchema,
} from '../../../src/http/camera-schemas.js';
import { newExportSchema } from '../../../src/http/export-schemas.js';
import { layoutChangesSchema, newLayoutSchema } from '../../../src/http/layout-schemas.js';
import { onvifProbeSchema, ptzSchema } from '../../../src/http/onvif-schemas.js';
import { importSchema } from '../../../src/http/snapshot-schema.js';
import { parseInstant } from '../../../src/http/time-range.js';
import { validate } from '../../../src/http/validate.js';
import { newWebhookSchema } from '../../../src/http/webhook-schemas.js';
import { readTaken, readTiles } from '../../../src/live/wall/page-messages.js';
import { retryAfterMs } from '../../../src/notify/webhooks/attempts.js';
import { isAllowedAddress, literalFault } from '../../../src/notify/webhooks/target-address.js';
import { isWebhookUrl, maskedUrl } from '../../../src/notify/webhooks/webhook-url.js';
import { isDeviceAddress, onSameHost } from '../../../src/onvif/device-address.js';
import { orRefused, type Target } from '../target.js';

const schemas: readonly z.ZodType[] = [
  ...[
    newCameraSchema,
    cameraChangesSchema,
    cameraBatchSchema,
    cameraTestSchema,
    newLayoutSchema,
    layoutChangesSchema,
  ],
  ...[newExportSchema, onvifProbeSchema, ptzSchema, importSchema, newWebhookSchema],
];

const camera = {
  id: 'door',
  url: 'rtsp://user:password@10.0.0.2/a',
  sub_url: 'rtsp://10.0.0.2/b',
  transport: 'tcp',
  record: true,
  retention_days: 7,
  tags: ['a'],
  onvif: { address: 'http://10.0.0.2/' },
  detection: {
    labels: ['person'],
    zones: [
      {
        name: 'z',
        kind: 'include',
        points: [
          [0, 0],
          [1, 0],
          [1, 1],
        ],
      },
    ],
  },
};

/** Bodies of requests: each is held against what each route wants. */
const bodies: Target = {
  seeds: [
    camera,
    { create: [camera], update: [{ id: 'door', record: false }], delete: ['old'] },
    { name: 'wall', grid: '3x3', tiles: ['door', null], shared: true },
    { items: [{ camera_id: 'door', from: '2026-11-20T08:00:00Z', to: '2026-11-20T08:10:00Z' }], zip: true },
    {
      version: 3,
      cameras: [camera],
      users: [],
      folders: [],
      tags: [],
      layouts: [],
      settings: { time_zone: 'UTC' },
    },
    { url: 'https://hooks.example.net/x', events: ['camera_lost.began'], enabled: true },
    { pan: 0.5, tilt: -1, zoom: 0 },
  ].map((body) => JSON.stringify(body)),
  words: [
    '"__proto__":',
    '"constructor":',
    '[[',
    '{}',
    'null',
    '1e400',
    '\\u0000',
    '\\ud800',
    '"id":',
    '"url":',
  ],
  run: (input) => {
    let body: unknown;
    try {
      body = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    for (const schema of schemas) orRefused(() => validate(schema, body));
  },
};

/** Headers, parameters and addresses: one line each. */
const lines: Target = {
  seeds: [
    'bytes=0-99',
    'bytes=-5',
    'W/"abc", "def"',
    '2026-11-20T08:00:00.5+09:00',
    '2026-11-20',
    '::ffff:10.1.2.3',
    'fe80::1%eth0',
    '[2001:db8::1]:80',
    'https://user:secret@hooks.example.net:8443/a?b=c',
    'http://169.254.169.254/latest',
    'Wed, 21 Oct 2026 07:28:00 GMT',
    '120',
  ],
  words: ['bytes=', '::', 'ffff', '%', '@', 'Z', '-', '0x7f', 'localhost'],
  run: (input) => {
    const text = input.toString('utf8');
    const range = parseByteRange(text, 1_000);
    if (range !== null && typeof range === 'object')
      assert.ok(0 <= range.first && range.first <= range.last && range.last < 1_000);
    isNoneMatch(text, '"abc"');
    const instantMs = parseInstant(text);
    if (instantMs !== null) new Date(instantMs).toISOString();
    plainAddress(text);
    clientNetwork(text);
    isLoopback(text);
    const groups = ipv6Groups(text);
    if (groups !== null)
      assert.ok(groups.length === 8 && groups.every((group) => group >= 0 && group <= 0xffff));
    isAllowedAddress(text, { allowsLocal: false });
    if (isWebhookUrl(text)) {
      literalFault(text, { allowsLocal: false });
      assert.ok(['', '***'].includes(new URL(maskedUrl(text)).password), 'a password is shown');
    }
    retryAfterMs(text, 1e12);
    isDeviceAddress(text);
    const told = onSameHost(new URL('http://cam.lan/onvif/device_service'), text, '10.0.0.2');
    assert.ok(told === null || told.hostname === 'cam.lan', 'another host than the one that was asked');
  },
};

/** What a wall's page sends. */
const wall: Target = {
  seeds: [
    JSON.stringify({
      op: 'tiles',
      rev: 7,
      tiles: [{ tile: 1, camera: 'door', stream: 'sub', mode: 'all', priority: 0, sound: false }],
    }),
    Buffer.from('210000000000000500001000', 'hex'),
  ],
  words: ['"tile":', '"mode":"key"', '"rev":', 'null', '1e99'],
  run: (input) => {
    const tiles = readTiles(input.toString('utf8'));
    if (typeof tiles !== 'string') assert.ok(tiles.tiles.length <= 64);
    const taken = readTaken(input);
    if (taken !== null) assert.ok(taken.messages >= 0 && taken.bytes >= 0);
  },
};

const limiter = (): LoginLimiter => new LoginLimiter({ clock: systemClock, isHome: () => false });

/** Tokens and keys: none of these is good, whatever it is made of. */
const tokens: Target = {
  get seeds() {
    const user = { username: 'eve', role: 'viewer', password_hash: '', token_epoch: 'e' } as const;
    const other = new Tokens(Buffer.alloc(32, 2), { users: { find: () => user }, clock: systemClock });
    return [
      `Bearer ${other.issueAccess(user)}`,
      `Bearer framering_${'0'.repeat(64)}`,
      'Basic ZXZlOnNlY3JldA==',
    ];
  },
  words: ['Bearer ', '.', 'eyJhbGciOiJub25lIn0', 'eyJhbGciOiJIUzI1NiJ9', '=='],
  run: (input) => {
    const user = { username: 'eve', role: 'viewer', password_hash: '', token_epoch: 'e' } as const;
    const own = new Tokens(Buffer.alloc(32, 1), { users: { find: () => user }, clock: systemClock });
    const token = bearerTokenOf(input.toString('latin1'));
    const known = [
      orRefused(() => own.verifyAccess(token)),
      orRefused(() => own.verifyForCamera(token, 'door')),
    ];
    assert.deepEqual(known, [null, null], 'a token that we never made is good');
    const text = input.toString('latin1');
    limiter().begin(text, text).end(true);
  },
};

export const webTargets = { bodies, lines, wall, tokens };
