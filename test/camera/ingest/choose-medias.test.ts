import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.js';
import { chooseMedias } from '../../../src/camera/ingest/choose-medias.js';
import { parseSdp } from '../../../src/rtsp/sdp.js';

/** A media by its control, with a direction or without. */
const media = (control: string, kind: 'video' | 'audio', direction = ''): string[] => [
  kind === 'video' ? 'm=video 0 RTP/AVP 96' : 'm=audio 0 RTP/AVP 0',
  ...(kind === 'video' ? ['a=rtpmap:96 H264/90000'] : []),
  `a=control:${control}`,
  ...(direction === '' ? [] : [`a=${direction}`]),
];

/** The controls of what is chosen: the video, then the audio if there is one. */
const chosen = (...lines: string[][]): (string | null)[] => {
  const { video, audio } = chooseMedias(parseSdp(['v=0', ...lines.flat(), ''].join('\r\n')));
  return [video.media.control, ...(audio === null ? [] : [audio.media.control])];
};

test('a video comes from the camera, whatever its direction says (Panasonic)', () => {
  const camera = media('picture', 'video', 'sendonly');
  assert.deepEqual(chosen(camera), ['picture']);
  for (const direction of ['', 'recvonly', 'sendrecv', 'sendonly']) {
    assert.deepEqual(chosen(camera, media('sound', 'audio', direction)), ['picture', 'sound'], direction);
  }
});

test('a loudspeaker that is listed without being asked for is left out, the microphone is not', () => {
  const speaker = media('speaker', 'audio', 'sendonly');
  for (const direction of ['', 'recvonly']) {
    const camera = media('picture', 'video', direction);
    assert.deepEqual(chosen(camera, speaker), ['picture'], direction);
    assert.deepEqual(chosen(camera, speaker, media('mike', 'audio', direction)), ['picture', 'mike']);
  }
});

test('what is surely sent goes before what might be', () => {
  assert.deepEqual(chosen(media('screen', 'video', 'sendonly'), media('lens', 'video', 'recvonly')), [
    'lens',
  ]);
});

test('a video of ours that says sendonly beside one that is none of ours', () => {
  const jpeg = ['m=video 0 RTP/AVP 26', 'a=control:stills', 'a=recvonly'];
  assert.deepEqual(chosen(jpeg, media('picture', 'video', 'sendonly')), ['picture']);
});

test('everything marked as a back channel (TP-Link) means the opposite', () => {
  const session = parseSdp(
    ['a=sendonly', ...media('picture', 'video'), ...media('sound', 'audio')].join('\n'),
  );
  assert.equal(chooseMedias(session).audio?.media.control, 'sound');
});

test('a camera without a codec of ours is refused by the names of what it has', () => {
  assert.throws(
    () => chosen(['m=video 0 RTP/AVP 26', 'a=sendonly'], media('sound', 'audio')),
    (thrown) => thrown instanceof AppError && /only: video JPEG, audio PCMU/.test(thrown.message),
  );
});

test('of what it has so much is told, however much it says', () => {
  const endless = Array.from({ length: 50 }, (_, index) => [
    `m=video 0 RTP/AVP ${96 + (index % 30)}`,
    `a=rtpmap:${96 + (index % 30)} ${'A'.repeat(1_000)}/90000`,
  ]);
  assert.throws(
    () => chosen(...endless),
    (thrown) => thrown instanceof AppError && thrown.message.length < 500,
  );
});

test('metadata is taken where it is wanted and as it stands, never compressed', () => {
  const metadata = (control: string, encoding: string): string[] => [
    'm=application 0 RTP/AVP 107',
    `a=rtpmap:107 ${encoding}/90000`,
    `a=control:${control}`,
  ];
  const chosenOf = (isWanted: boolean, ...lines: string[][]): string | null => {
    const session = parseSdp([...media('picture', 'video'), ...lines.flat()].join('\n'));
    return chooseMedias(session, isWanted).metadata?.control ?? null;
  };
  const plain = metadata('plain', 'vnd.onvif.metadata');
  assert.equal(chosenOf(true, plain), 'plain');
  assert.equal(chosenOf(false, plain), null);
  const gzip = metadata('gzip', 'vnd.onvif.metadata.gzip');
  assert.equal(chosenOf(true, gzip, metadata('exi', 'vnd.onvif.metadata.exi.onvif')), null);
  assert.equal(chosenOf(true, gzip, plain), 'plain');
  assert.equal(chosenOf(true, ['m=application 0 RTP/AVP 98', 'a=rtpmap:98 vnd.other/90000']), null);
});
