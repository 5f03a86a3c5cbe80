import { answer, type Line } from './scripted-camera.js';

/** A camera with H.264 and G.711. */
export const SDP = [
  'v=0',
  'm=video 0 RTP/AVP 96',
  'a=rtpmap:96 H264/90000',
  'a=fmtp:96 packetization-mode=1',
  'a=control:v',
  'm=audio 0 RTP/AVP 0',
  'a=control:a',
  '',
].join('\r\n');

export const options: Line = [
  'OPTIONS',
  answer('200 OK', { Public: 'DESCRIBE, SETUP, PLAY, GET_PARAMETER' }),
];
export const describe: Line = ['DESCRIBE', answer('200 OK', { 'Content-Type': 'application/sdp' }, SDP)];
export const setupTrack = (channels: string): Line => [
  'SETUP',
  answer('200 OK', { Transport: `RTP/AVP/TCP;unicast;interleaved=${channels}`, Session: '77;timeout=20' }),
];
export const play: Line = ['PLAY', answer('200 OK', { Session: '77' })];
export const teardown: Line = ['TEARDOWN', answer('200 OK')];
export const toPlay: readonly Line[] = [options, describe, setupTrack('0-1'), setupTrack('2-3'), play];
