import { FramesIn, nothingPulled } from '../../../src/relay/receive/frames-in.js';
import { type WireHandler, WireReader } from '../../../src/relay/wire/reader.js';
import {
  describedFields,
  readDescribed,
  readEnd,
  readHello,
  readWelcome,
} from '../../../src/relay/wire/texts.js';
import { textMessage } from '../../../src/relay/wire/write.js';
import { RingReader } from '../../../src/ring/reader.js';
import { frameMessage } from '../../relay/wire-log.js';
import { copyOf, makeRing, nalOf, prefixed, streamInfo } from '../../support/ring.js';
import { orRefused, type Target } from '../target.js';

const frame = (sequence: number, isVideo: boolean, flags: number, bytes: Buffer): Buffer =>
  frameMessage({
    ...{ isVideo, flags, sequence, ptsTicks: sequence * 3600, dtsTicks: sequence * 3600 },
    ...{ wallMs: 1_700_000_000_000 + sequence, ageMs: 5, bytes },
  });

const description = textMessage(
  'description',
  describedFields({ ring: 1, awaitsSound: false, info: streamInfo(1) }),
);
const stream = Buffer.concat([
  textMessage('welcome', { version: 1, path: ['a'] }),
  description,
  frame(1, true, 1, prefixed(nalOf(1, 30), nalOf(2, 9))),
  frame(2, false, 4, Buffer.from('sound')),
  frame(3, true, 0, prefixed(nalOf(3, 12))),
  textMessage('end', { reason: 'moved' }),
]);

/** All that a box may send, into a ring: what is in there is whole, whatever came. */
const pull: Target = {
  seeds: [stream],
  words: [description],
  run: (input) => {
    const { writer } = makeRing();
    const frames = new FramesIn(writer, nothingPulled());
    const handler: WireHandler = {
      onText: (type, text) => {
        if (type === 'description') frames.onDescribed(readDescribed(text));
        else if (type === 'welcome') readWelcome(text);
        else readEnd(text);
      },
      onSeen: () => {},
      onFrame: (head) => frames.onFrame(head),
      onBytes: (source, start, end) => frames.onBytes(source, start, end),
      onFrameEnd: () => frames.onFrameEnd(),
    };
    const wire = new WireReader('sender', handler);
    orRefused(() => {
      for (let at = 0; at < input.length; at += 11) wire.feed(input, at, Math.min(at + 11, input.length));
    });
    frames.end();
    const reader = new RingReader(writer.ring, { start: 'latest-key', sound: 'both' });
    while (reader.next()) if (reader.isVideo) requireNals(copyOf(reader));
  },
};

/** A frame is NAL units with their lengths, to its end. */
const requireNals = (bytes: Buffer | null): void => {
  if (bytes === null) return;
  let at = 0;
  while (at + 4 <= bytes.length) at += 4 + bytes.readUInt32BE(at);
  if (at !== bytes.length) throw new Error('a frame of the ring is no row of NAL units');
};

/** All that whoever asks may say. */
const asked: Target = {
  seeds: [textMessage('hello', { versions: [1, 1], box: 'a', source: 'cam/sub' })],
  run: (input) => {
    const handler: WireHandler = {
      onText: (_type, text) => void readHello(text),
      onSeen: () => {},
      onFrame: () => {
        throw new Error('frames from who asks');
      },
      onBytes: () => {},
      onFrameEnd: () => {},
    };
    orRefused(() => new WireReader('puller', handler).feed(input, 0, input.length));
  },
};

export const relayTargets: Readonly<Record<string, Target>> = { 'relay-pull': pull, 'relay-asked': asked };
