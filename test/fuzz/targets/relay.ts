import { soundRows } from '../../../src/archive/list/box-rows.js';
import { readQuestion } from '../../../src/archive/others/questions.js';
import { FramesIn, nothingPulled } from '../../../src/relay/receive/frames-in.js';
import { type WireHandler, WireReader } from '../../../src/relay/wire/reader.js';
import {
  describedFields,
  readAnswer,
  readAsk,
  readDescribed,
  readEnd,
  readHello,
  readWelcome,
} from '../../../src/relay/wire/texts.js';
import { pieceHead, textMessage } from '../../../src/relay/wire/write.js';
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

const question = { what: 'list', cameraId: 'door', days: [[20_000, 12_345]] };
const stamp = { ino: 1, sizeBytes: 100, mtimeMs: 1, ctimeMs: 1 };

/** All that a box may ask besides pictures. */
const asks: Target = {
  seeds: [
    textMessage('ask', { box: 'a', question }),
    textMessage('ask', { box: 'a', question: { what: 'news', boot: 'b', after: 3 } }),
    textMessage('ask', {
      box: 'a',
      question: {
        ...{ what: 'read', cameraId: 'door', fileName: '2026-11-21_08-30-00_to_09-30-00.mp4', stamp },
        ...{ isSidecar: false, startByte: 0, endByte: 10 },
      },
    }),
  ],
  words: ['cameraId', 'fileName', 'startByte', '../', 'delete'],
  run: (input) => {
    const handler: WireHandler = {
      onText: (_type, text) => {
        const read = readQuestion(readAsk(text).question);
        if (read.what !== 'news' && /[/\\]|^\./.test(read.cameraId)) throw new Error('a path of a camera');
        if (read.what !== 'read') return;
        if (/[/\\]/.test(read.fileName)) throw new Error('a path of a file');
        if (read.endByte - read.startByte > 2 << 20) throw new Error('more than there is room for');
      },
      onSeen: () => {},
      onFrame: () => {},
      onBytes: () => {
        throw new Error('bytes from who asks');
      },
      onFrameEnd: () => {},
    };
    orRefused(() => new WireReader('asker', handler).feed(input, 0, input.length));
  },
};

const MAX_BYTES = 1_000;

/** All that may come of a question: no more bytes than there is room for, and whatever they are they are rows, or none. */
const answers: Target = {
  seeds: [
    Buffer.concat([
      textMessage('answer', { bytes: 224, fault: null, content: { gone: [1], isMore: false } }),
      pieceHead(224),
      Buffer.alloc(224),
    ]),
    textMessage('answer', { bytes: 0, fault: { code: 'not_found', message: 'none' }, content: {} }),
  ],
  run: (input) => {
    let [said, came] = [0, 0];
    const handler: WireHandler = {
      onText: (_type, text) => {
        said += readAnswer(text, MAX_BYTES).bytes;
      },
      onSeen: () => {},
      onFrame: () => {
        throw new Error('frames from who answers');
      },
      onBytes: (source, start, end) => {
        came += end - start;
        for (const { sizeBytes, recording } of soundRows(source.subarray(start, end), 'a'))
          if (!(sizeBytes >= 0) || !(recording.endMs! >= recording.startMs))
            throw new Error('a row that is none');
      },
      onFrameEnd: () => {},
    };
    orRefused(() => new WireReader('answerer', handler).feed(input, 0, input.length));
    if (said > MAX_BYTES * input.length || came > input.length) throw new Error('more than came');
  },
};

export const relayTargets: Readonly<Record<string, Target>> = {
  ...{ 'relay-pull': pull, 'relay-asked': asked },
  ...{ 'box-asks': asks, 'box-answers': answers },
};
