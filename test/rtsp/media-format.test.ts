import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  aacFramingOf,
  audioTrackOf,
  hasDonl,
  packetizationModeOf,
  spropNalsOf,
  videoCodecOf,
} from '../../src/rtsp/media-format.js';
import { type MediaDescription, parseSdp } from '../../src/rtsp/sdp.js';

const media = (kind: string, rtpmap: string, fmtp = ''): MediaDescription =>
  parseSdp(`m=${kind} 0 RTP/AVP 96\na=rtpmap:96 ${rtpmap}\na=fmtp:96 ${fmtp}`).medias[0]!;

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
const hexOf = (nals: readonly Buffer[]): string[] => nals.map((nal) => nal.toString('hex'));

test('video codecs', () => {
  assert.equal(videoCodecOf(media('video', 'H264/90000')), 'h264');
  assert.equal(videoCodecOf(media('video', 'h265/90000')), 'h265');
  assert.equal(videoCodecOf(media('video', 'HEVC/90000')), 'h265');
  assert.equal(videoCodecOf(media('video', 'JPEG/90000')), null);
  assert.equal(videoCodecOf(media('audio', 'H264/90000')), null);
  const bare = (fmtp: string) => parseSdp(`m=video 0 RTP/AVP 96\na=fmtp:96 ${fmtp}`).medias[0]!;
  assert.equal(videoCodecOf(bare('sprop-parameter-sets=Z00A')), 'h264');
  assert.equal(videoCodecOf(bare('sprop-sps=QgEB')), 'h265');
  assert.equal(videoCodecOf(bare('packetization-mode=1')), null);
});

const spropCases = [
  { name: 'plain', values: ['674d0028', '68ee3c80'], nals: ['674d0028', '68ee3c80'] },
  {
    name: 'start code in front',
    values: ['00000001674d0028', '00000168ee3c80'],
    nals: ['674d0028', '68ee3c80'],
  },
  {
    name: 'start code behind (GW4089IP)',
    values: ['674d002800000001', '68ee3c8000000001'],
    nals: ['674d0028', '68ee3c80'],
  },
  { name: 'both in one value', values: ['00000001674d00280000000168ee3c80'], nals: ['674d0028', '68ee3c80'] },
  { name: 'zeros behind (Dahua)', values: ['674d0028', '68ee31b21b00'], nals: ['674d0028', '68ee31b21b'] },
  { name: 'slices and junk', values: ['6588', 'ff', ''], nals: [] },
];

for (const { name, values, nals } of spropCases) {
  test(`sprop-parameter-sets: ${name}`, () => {
    const h264 = media('video', 'H264/90000', `sprop-parameter-sets=${values.map(base64).join(',')}`);
    assert.deepEqual(hexOf(spropNalsOf(h264)), nals);
  });
}

test('sprop of H.265, whole and in part', () => {
  const [vps, sps, pps] = ['40010c01', '42010101', '4401c0'].map(base64);
  const whole = `sprop-sps=${sps};sprop-pps=${pps}; sprop-vps=${vps}`;
  assert.deepEqual(hexOf(spropNalsOf(media('video', 'H265/90000', whole))), [
    '40010c01',
    '42010101',
    '4401c0',
  ]);
  assert.deepEqual(hexOf(spropNalsOf(media('video', 'H265/90000', `sprop-sps=${sps}`))), ['42010101']);
  assert.deepEqual(spropNalsOf(media('video', 'H265/90000')), []);
  assert.deepEqual(spropNalsOf(media('audio', 'PCMU/8000', whole)), []);
});

test('AAC by its config', () => {
  const track = audioTrackOf(media('audio', 'MPEG4-GENERIC/48000', 'mode=AAC-hbr;config=1188'));
  assert.deepEqual(track, {
    codec: 'aac',
    clockRateHz: 48_000,
    channels: 1,
    config: new Uint8Array([0x11, 0x88]),
    codecString: 'mp4a.40.2',
  });
});

test('AAC without a config, or with a broken one, is LC as the rtpmap has it', () => {
  for (const fmtp of ['', 'config=', 'config=zz', 'config=00']) {
    const track = audioTrackOf(media('audio', 'MPEG4-GENERIC/16000/2', fmtp));
    assert.deepEqual(track?.config, new Uint8Array([0x14, 0x10]));
    assert.equal(track.channels, 2);
  }
  assert.equal(audioTrackOf(media('audio', 'MPEG4-GENERIC/8000', 'mode=CELP-cbr')), null);
});

test('G.711, L16 and Opus; what no output carries is left out', () => {
  const facts = (rtpmap: string) => {
    const track = audioTrackOf(media('audio', rtpmap));
    return track && [track.codec, track.clockRateHz, track.channels, track.codecString];
  };
  assert.deepEqual(facts('PCMU/8000'), ['pcmu', 8000, 1, 'ulaw']);
  assert.deepEqual(facts('PCMA/16000/1'), ['pcma', 16_000, 1, 'alaw']);
  assert.deepEqual(facts('L16/44100/2'), ['l16', 44_100, 2, 'twos']);
  assert.deepEqual(facts('opus/48000/2'), ['opus', 48_000, 2, 'opus']);
  assert.equal(facts('G723/8000'), null);
  assert.equal(facts('MP4A-LATM/16000'), null);
});

test('AU header fields', () => {
  const framing = (fmtp: string) => Object.values(aacFramingOf(media('audio', 'MPEG4-GENERIC/16000', fmtp)));
  assert.deepEqual(framing('SizeLength=13; IndexLength=3; IndexDeltaLength=3;'), [13, 3, 3, 1024]);
  assert.deepEqual(framing('sizelength=16;indexlength=0;indexdeltalength=0'), [16, 0, 0, 1024]);
  assert.deepEqual(framing('config=1408'), [13, 3, 3, 1024]);
  assert.deepEqual(framing('mode=AAC-lbr'), [6, 2, 2, 1024]);
  assert.deepEqual(framing('sizelength=99;indexlength=-3'), [13, 3, 3, 1024]);
});

test('an AAC frame lasts what its config says, on the clock of the RTP', () => {
  const ticks = (rtpmap: string, config: string) =>
    aacFramingOf(media('audio', `MPEG4-GENERIC/${rtpmap}`, `config=${config}`)).ticksPerFrame;
  assert.equal(ticks('48000', '1188'), 1024);
  assert.equal(ticks('48000', '118c'), 960);
  assert.equal(ticks('48000', '2b098800'), 2048);
});

test('packetization-mode and DONL', () => {
  assert.equal(packetizationModeOf(media('video', 'H264/90000', 'packetization-mode=1')), 1);
  assert.equal(packetizationModeOf(media('video', 'H264/90000', 'packetization-mode=2')), 2);
  assert.equal(packetizationModeOf(media('video', 'H264/90000')), 0);
  const donl = (fmtp: string) => hasDonl(media('video', 'H265/90000', fmtp));
  assert.deepEqual(['sprop-max-don-diff=2', 'tx-mode=MRST'].map(donl), [true, true]);
  assert.deepEqual(['', 'sprop-max-don-diff=0', 'tx-mode=SRST', 'sprop-max-don-diff=x'].map(donl), [
    false,
    false,
    false,
    false,
  ]);
});

test('property: any sprop and config are taken without throwing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('H264', 'H265'),
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }),
      fc.string(),
      (codec, values, config) => {
        const sprop = values.map((bytes) => Buffer.from(bytes).toString('base64')).join(',');
        const fmtp = `sprop-parameter-sets=${sprop};sprop-sps=${sprop};sprop-vps=${config}`;
        for (const nal of spropNalsOf(media('video', `${codec}/90000`, fmtp))) assert.ok(nal.length > 0);
        audioTrackOf(media('audio', 'MPEG4-GENERIC/48000/2', `config=${config}`));
      },
    ),
  );
});
