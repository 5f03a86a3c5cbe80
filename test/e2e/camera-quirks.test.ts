import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { accessUnitHash, hashOf } from '../support/access-units.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import type { Faults } from '../support/fake-camera/faults.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';

/** Requests come every half of it; the other half is for a machine that has too much to do. */
const REQUIRED_WITHIN_SEC = 10;

type Transport = 'tcp' | 'udp';
type Case = {
  readonly name: string;
  readonly video: VideoStream;
  readonly faults: Partial<Faults>;
  readonly transport: Transport;
};

/** Each alternative of one fault, together with what it needs to show. */
const each = <Key extends keyof Faults>(
  key: Key,
  values: readonly Faults[Key][],
  besides: Partial<Faults> = {},
): Partial<Faults>[] => values.map((value) => ({ ...besides, [key]: value }));

const dialogueFaults: readonly Partial<Faults>[] = [
  ...each('contentBase', ['missing', 'wrong-host', 'relative', 'no-scheme']),
  ...each('contentType', ['missing', 'parameters']),
  ...each('control', ['absolute', 'leading-slash', 'double-scheme', 'query']),
  ...each('sprop', ['missing', 'broken', 'annex-b']),
  ...each('interleavedIds', ['other', 'equal', 'missing']),
  ...each('transportHeader', ['trailing-semicolon', 'spaced-ssrc', 'other-order', 'wrong-profile']),
  ...each('cseq', ['spaced', 'lower-case', 'missing', 'wrong', 'always-one']),
  ...each('rtpInfo', ['missing', 'unknown-keys', 'wrong-url', 'zero-sequence', 'bad-time']),
  { sessionIdChanges: true },
  { sessionTimeoutSec: null },
  { publicMethods: ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY', 'TEARDOWN'] },
  { framesBeforePlayReply: 3 },
  { byteDelayMs: 0 },
  { keepalive: 'refuse', sessionTimeoutSec: 1 },
  { keepalive: 'ignore', sessionTimeoutSec: 1 },
  { requires: 'requests', sessionTimeoutSec: REQUIRED_WITHIN_SEC },
];

const mediaFaults: readonly Partial<Faults>[] = [
  {},
  { unknownChannel: true },
  { garbageBytes: 33 },
  { ssrcChangesEachGop: true },
  ...each('foreignPayloadType', ['own-sequence', 'in-sequence']),
  ...each('marker', ['missing', 'every-nal', 'on-parameter-sets']),
  ...each('timestamps', ['constant', 'changes-inside-frame']),
  ...each('fragments', ['start-and-end', 'type-differs', 'empty'], { maxPayloadBytes: 300 }),
  ...each('aggregation', ['normal', 'zero-padded']),
  { packetizationMode: 0, maxPayloadBytes: 60_000 },
  { annexB: true },
  { inBandParameterSets: 'none' },
  { adtsInside: true },
  { startMidGop: true },
  ...each('senderReports', ['off', 'insane-ntp', 'unknown-ssrc']),
  { duplication: 0.05 },
];

const overUdp: readonly Partial<Faults>[] = [
  {},
  { transportHeader: 'no-server-port' },
  { reordering: 0.1, maxPayloadBytes: 300 },
  // The very first packet of each track among them.
  { reordering: (packet) => packet % 5 === 0, maxPayloadBytes: 300 },
];

const toCase = (video: VideoStream, transport: Transport, faults: Partial<Faults>): Case => {
  const said = Object.entries(faults).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  return {
    name: `${video.codec} over ${transport}: ${said.join(', ') || 'no fault'}`,
    video,
    faults,
    transport,
  };
};

const cases: readonly Case[] = [
  ...dialogueFaults.map((faults) => toCase(fixtures.h264High(), 'tcp', faults)),
  ...mediaFaults.map((faults) => toCase(fixtures.h264Baseline(), 'tcp', faults)),
  ...mediaFaults.map((faults) => toCase(fixtures.h265Main(), 'tcp', faults)),
  ...overUdp.map((faults) => toCase(fixtures.h264BFrames(), 'udp', faults)),
];

/** A GOP and a half: the keyframe in between shows whatever happens at keyframes. */
const ENOUGH_FRAMES = 22;
const ENOUGH_AUDIO = 40;

/** Whoever requires something within a time gets half as long again to find it missing. */
const enoughFrames = ({ faults, video }: Case): number =>
  faults.requires === undefined ? ENOUGH_FRAMES : 1.5 * REQUIRED_WITHIN_SEC * video.frameRateHz;

const seeAll = async (
  one: Case,
  index: number,
  { engine, camera, log }: { engine: Engine; camera: FakeCamera; log: FrameLog },
): Promise<void> => {
  const { video } = one;
  await until(
    'there are enough frames',
    () => log.video.length >= enoughFrames(one) && log.audio.length >= ENOUGH_AUDIO,
    {
      deadlineMs: 60_000,
      describe: () =>
        `${log.video.length} and ${log.audio.length}, ${JSON.stringify(engine.cameras.get(`cam${index}`)?.status())}`,
    },
  );
  const { sent } = camera.mount(`/cam${index}`).stream;
  const sentVideo = sent.flatMap(({ kind, bytes }) =>
    kind === 'video' ? [accessUnitHash(video.codec, bytes)] : [],
  );
  const sentAudio = sent.flatMap(({ kind, bytes }) => (kind === 'audio' ? [hashOf(bytes)] : []));
  const gotVideo = log.video.map((frame) => frame.hash);
  const gotAudio = log.audio.map((frame) => frame.hash);
  const from = sentVideo.indexOf(gotVideo[0] ?? '');
  assert.deepEqual(gotVideo, sentVideo.slice(from, from + gotVideo.length));
  const audioFrom = sentAudio.indexOf(gotAudio[0] ?? '');
  assert.deepEqual(gotAudio, sentAudio.slice(audioFrom, audioFrom + gotAudio.length));
  assert.ok(log.video[0]?.isKey);
  assert.equal(log.frames.filter((frame) => frame.damaged || frame.discontinuity).length, 0);
  assert.equal(engine.cameras.get(`cam${index}`)?.status().reconnects, 0);
};

/** So many at a time: all of them would keep a small machine from sending and reading as fast as they film. */
const AT_A_TIME = 20;

for (let first = 0; first < cases.length; first += AT_A_TIME) {
  const some = cases.slice(first, first + AT_A_TIME);
  describe(`cameras ${first} to ${first + some.length - 1}`, () => {
    let engine: Engine;
    let camera: FakeCamera;
    let logs: readonly FrameLog[];

    before(async () => {
      const mounts = some.map(
        ({ video }, index) => [`/cam${index}`, { video, audio: fixtures.aac() }] as const,
      );
      camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
      engine = new Engine();
      logs = some.map(({ faults, transport }, index) => {
        Object.assign(camera.mount(`/cam${index}`).faults, faults);
        const url = camera.url(`/cam${index}`);
        engine.cameras.setAll([cameraAt(`cam${index}`, url, { source: { url, transport } })]);
        return new FrameLog(engine.cameras, `cam${index}`);
      });
    });

    after(async () => {
      for (const log of logs) log[Symbol.dispose]();
      await engine[Symbol.asyncDispose]();
      await camera.close();
    });

    for (const [index, one] of some.entries())
      test(`every frame comes through: ${one.name}`, () =>
        seeAll(one, index, { engine, camera, log: logs[index]! }));
  });
}
