import assert from 'node:assert/strict';
import { parseAacConfig } from '../../../src/codec/aac.js';
import { toAnnexB } from '../../../src/codec/annex-b.js';
import { buildAvcc, parseAvcc } from '../../../src/codec/avcc.js';
import { AnnexBCursor, LengthPrefixedCursor } from '../../../src/codec/nal-cursor.js';
import { ParameterSets } from '../../../src/codec/parameter-sets.js';
import type { VideoCodec } from '../../../src/codec/track.js';
import { fixtures } from '../../support/fixtures.js';
import { joined, pieces, type Target } from '../target.js';

/** SPS, PPS and VPS, as they come in an SDP and in band. */
const sets = (codec: VideoCodec): Target => ({
  get seeds() {
    return [joined((codec === 'h264' ? fixtures.h264High() : fixtures.h265Main()).parameterSets)];
  },
  run: (input) => {
    const known = new ParameterSets(codec);
    for (const piece of pieces(input)) known.offer(piece, 0, piece.length);
    known.lack();
    const info = known.toVideoTrackInfo();
    if (info === null) return;
    assert.ok(
      info.width > 0 && info.height > 0 && info.width <= 32_768 && info.height <= 32_768,
      'a size nobody has',
    );
    assert.match(info.codecString, /^[a-zA-Z0-9.]{4,40}$/);
    if (codec === 'h264') assert.ok(parseAvcc(buildAvcc(info)), 'what was written is not read');
  },
});

const nals: Target = {
  get seeds() {
    const { bytes } = fixtures.h264High().frames[0]!;
    const start = Buffer.from([0, 0, 1, 0x65, 1, 2, 3, 0, 0, 0, 1, 0x41, 9, 0, 0, 3, 1, 0, 0]);
    return [start, bytes.subarray(0, 600)];
  },
  words: [Buffer.from([0, 0, 1]), Buffer.from([0, 0, 0, 1]), Buffer.from([0, 0, 3])],
  run: (input) => {
    for (const cursor of [new AnnexBCursor(), new LengthPrefixedCursor()]) {
      cursor.open(input, 0, input.length);
      let last = 0;
      while (cursor.next()) {
        assert.ok(cursor.offset >= last && cursor.offset + cursor.length <= input.length);
        last = cursor.offset + cursor.length;
      }
    }
    toAnnexB(input, 0, input.length);
  },
};

/** Records of configuration, as files and SDPs have them. */
const records: Target = {
  seeds: [
    Buffer.from('014d001fffe1000467 4d001f01000468ee3c80'.replace(' ', ''), 'hex'),
    Buffer.from('1190', 'hex'),
    Buffer.from('eb098800', 'hex'),
  ],
  run: (input) => {
    parseAvcc(input);
    const config = parseAacConfig(input);
    if (config !== null) assert.ok(config.sampleRateHz > 0 && config.channels <= 24);
  },
};

export const codecTargets = {
  'h264-sets': sets('h264'),
  'h265-sets': sets('h265'),
  nals,
  'codec-records': records,
};
