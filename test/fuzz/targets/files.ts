import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import {
  decodeRecord,
  encodeRecord,
  RECORD_HEAD_BYTES,
} from '../../../src/archive/detections/detection-record.js';
import { eachRecord } from '../../../src/archive/detections/sidecar-pages.js';
import {
  isCutName,
  parseBrokenName,
  parseRecordingName,
  parseUnclosedName,
} from '../../../src/archive/files/file-name.js';
import { MAX_FILE_BYTES } from '../../../src/import/peer-yaml.js';
import { readPeer } from '../../../src/import/read-peer.js';
import { parseName } from '../../../src/live/hls/names.js';
import { recordFile, samplesOf, scanFile, streamInfoOf } from '../../fmp4/fragmented-file.js';
import { fixtures } from '../../support/fixtures.js';
import { orRefused, type Target } from '../target.js';

/** Recordings: a disk may have torn them, and a folder may hold anything. */
const mp4: Target = {
  get seeds() {
    const [video, audio] = [fixtures.h264High(), fixtures.aac()];
    const samples = samplesOf(video, audio).map((sample) => ({
      ...sample,
      bytes: sample.bytes.subarray(0, 12),
    }));
    return [recordFile(streamInfoOf(video, audio.track), samples.slice(0, 60), { maxSamples: 20 })];
  },
  words: ['moof', 'mdat', 'moov', 'traf', 'trun', 'tfdt', 'prft', 'free', 'hvcC', 'mfra', 'avc1', 'mp4a'],
  run: (input) => {
    const { scanner } = scanFile(input);
    assert.ok(scanner.wholeBytes <= input.length);
    for (const { offsetBytes, endBytes } of scanner.fragments)
      assert.ok(offsetBytes < endBytes && endBytes <= input.length);
    for (const columns of scanner.columns)
      assert.ok(columns.count <= input.length, 'more samples than bytes');
  },
};

const sidecar: Target = {
  get seeds() {
    const seen = { label: 'person', score: 0.5, box: [0.1, 0.2, 0.3, 0.4], zone: 'yard' } as const;
    const record = encodeRecord({ wallMs: 1e12, source: 'model', objects: [seen, seen] });
    return [record.subarray(RECORD_HEAD_BYTES)];
  },
  run: (input) => {
    // Two of them: what nobody made has no right sum, and what somebody did may say anything.
    const head = Buffer.alloc(RECORD_HEAD_BYTES);
    head.writeUInt16BE(input.length);
    head.writeUInt32BE(crc32(input), 2);
    const page = Buffer.concat([head, input, head, input.subarray(1)]);
    eachRecord(page, 1, (at, length) => {
      assert.ok(at >= 0 && length > 0 && at + length <= page.length);
      const read = decodeRecord(page.subarray(at, at + length));
      for (const { score, box } of read?.objects ?? []) {
        assert.ok(score >= 0 && score <= 1);
        for (const side of box) assert.ok(side >= 0 && side <= 1);
      }
    });
  },
};

/** Names of files, also as they stand in addresses. */
const names: Target = {
  seeds: [
    '2026-11-20T08-00-00Z_2026-11-20T08-10-00Z.mp4',
    '2026-11-20T08-00-00Z_ongoing.mp4',
    'seg-12.ts',
    'part-3-1.ts',
    'subs-4.vtt',
  ],
  words: ['_ongoing', '.mp4', '.cut-1', '../', '.broken', 'Z_'],
  run: (input) => {
    const text = input.toString('utf8');
    const name = parseRecordingName(text);
    if (name !== null) assert.ok(!/[/\\\0]/.test(text), 'a name that is a path');
    parseBrokenName(text);
    parseUnclosedName(text);
    isCutName(text);
    parseName(text);
  },
};

/** Settings of other recorders. */
const peers: Target = {
  seeds: [
    'paths:\n  a: { source: "rtsp://u:p@10.0.0.1/x", record: yes, recordDeleteAfter: 36h }\n',
    'streams:\n  a: [rtsp://10.0.0.1/x, "ffmpeg:a#audio=aac"]\n',
    'version: 0.16\ncameras:\n  a:\n    ffmpeg:\n      inputs:\n        - path: rtsp://10.0.0.1/x\n          roles: [record, detect]\n',
  ],
  words: ['&a', '*a', '<<: *a', '- ', ': ', '\n  ', '{', '[', '!!binary', '__proto__:'],
  run: (input) => {
    assert.ok(input.length <= MAX_FILE_BYTES);
    // An operator's own file, in a process of its own: the library may take longer than in proportion to it.
    orRefused(() => readPeer(input.toString('utf8', 0, 16_384)));
    assert.equal(Object.hasOwn(Object.prototype, 'source'), false, 'the prototype of all was changed');
  },
};

export const fileTargets = { mp4, sidecar, names, peers };
