import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { writeArchive } from './archive.js';
import { makeScenes } from './pictures.js';

const FORGET_SENT_MS = 60_000;
const FLAPS_EVERY_MS = 45_000;
const AWAY_MS = 15_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What is shown, and what of it is recorded: the old wing comes and goes, the atrium has sound and three hours of past. */
const names = {
  gate: { comment: 'Gate', record: true },
  yard: { comment: 'Yard', record: true },
  dock: { comment: 'Dock', record: false },
  lobby: { comment: 'Lobby', record: false },
  stairs: { comment: 'Stairs', record: false },
  garage: { comment: 'Garage', record: false },
  'old-wing': { comment: 'Old wing', record: true },
  atrium: { comment: 'Atrium', record: true },
} as const;

const startCameras = async (): Promise<{ steady: FakeCamera; flapping: FakeCamera }> => {
  const scenes = makeScenes();
  const mounts = Object.fromEntries([...scenes].map(([name, video]) => [`/${name}`, { video }]));
  const sub = { video: fixtures.h264Baseline() };
  const atrium = { video: fixtures.h264High(), audio: fixtures.pcmu() };
  const steady = await FakeCamera.start({ mounts: { ...mounts, '/atrium': atrium, '/sub': sub } });
  const flapping = await FakeCamera.start({ mounts: { '/old-wing': { video: fixtures.h264Large() } } });
  setInterval(() => {
    // What tests compare with what arrived would grow for as long as the demo runs.
    for (const { stream } of [...steady.mounts, ...flapping.mounts]) stream.sent.length = 0;
  }, FORGET_SENT_MS);
  setInterval(() => {
    flapping.faults.stall = true;
    setTimeout(() => {
      flapping.faults.stall = false;
    }, AWAY_MS);
  }, FLAPS_EVERY_MS);
  return { steady, flapping };
};

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'framering-demo-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  say('Making pictures, cameras and some hours of recordings...');
  const { steady, flapping } = await startCameras();
  const archiveDir = join(dataDir, 'recordings');
  writeArchive(archiveDir, 'atrium', Date.now());
  const port = process.env['PORT'] ?? '8080';
  const service = await startService({ DATA_DIR: dataDir, ARCHIVE_DIR: archiveDir, PORT: port });
  const token = await service.login('admin', service.adminPassword);
  for (const [id, { comment, record }] of Object.entries(names)) {
    const camera = id === 'old-wing' ? flapping : steady;
    const body = {
      id,
      comment,
      record,
      url: camera.url(`/${id}`),
      sub_url: id === 'gate' ? steady.url('/sub') : '',
    };
    const { status, text } = await service.call('POST', '/api/cameras', { token, body });
    if (status !== 201) throw new Error(text);
  }
  say(`\n  ${service.url}\n  user      admin\n  password  ${service.adminPassword}\n`);
  say('Ctrl+C ends it, and removes all that it wrote.');
  const end = (): void => void service.stop().finally(() => process.exit());
  process.once('SIGINT', end).once('SIGTERM', end);
  await service.exited;
  process.exit(1);
};

await main();
