import type { RtspRequest } from './request-reader.js';

/**
 * What is wrong with a camera. All fields may be set while it runs; each mount has its own that falls back to
 * the server's (see `faultsOver`). Numbers in comments are those of real cameras' trackers.
 */
export type Faults = {
  // --- RTSP: answers
  /** A status to answer with instead of what is right (401, 404, 453, 500 ...), or null to go on. */
  answer: ((request: RtspRequest) => number | null) | null;
  /** Methods that never get an answer. */
  neverAnswer: readonly string[];
  /** Methods at whose arrival the connection is reset. */
  resetOn: readonly string[];
  /** Answers go out a byte at a time, this far apart. */
  byteDelayMs: number | null;
  /** Last word on an answer's text, for whatever has no field of its own. */
  editAnswer: ((text: string, request: RtspRequest) => string) | null;
  /** Lower case and spaces as of Longse. */
  cseq: 'normal' | 'spaced' | 'lower-case' | 'missing' | 'wrong' | 'always-one';
  publicMethods: readonly string[];
  // --- RTSP: DESCRIBE
  /** Without scheme as of Anjvision. */
  contentBase: 'normal' | 'missing' | 'wrong-host' | 'relative' | 'no-scheme';
  contentType: 'normal' | 'missing' | 'parameters';
  /** How tracks are named in the SDP. */
  control: 'relative' | 'absolute' | 'leading-slash' | 'double-scheme' | 'query';
  sprop: 'normal' | 'missing' | 'broken' | 'annex-b';
  editSdp: ((sdp: string) => string) | null;
  // --- RTSP: SETUP and PLAY
  interleavedIds: 'asked' | 'other' | 'equal' | 'missing';
  /** Spaced SSRC as of Hikvision, trailing semicolon of Laureii, order of Luckfox, profile of Escam. */
  transportHeader:
    | 'normal'
    | 'trailing-semicolon'
    | 'spaced-ssrc'
    | 'other-order'
    | 'wrong-profile'
    | 'no-server-port';
  /** A new session id with each SETUP. */
  sessionIdChanges: boolean;
  sessionTimeoutSec: number | null;
  rtpInfo: 'normal' | 'missing' | 'unknown-keys' | 'wrong-url' | 'zero-sequence' | 'bad-time';
  /** Frames sent before PLAY is answered (Reolink, v4l2rtspserver). */
  framesBeforePlayReply: number;
  /** What becomes of OPTIONS, GET_PARAMETER and SET_PARAMETER inside a session. */
  keepalive: 'answer' | 'refuse' | 'ignore';
  /** What has to come within the session's timeout, else it is closed; receiver reports as of Arlo. */
  requires: 'nothing' | 'requests' | 'receiver-reports';
  // --- interleaved stream
  /** Data on a channel that nobody set up, before each frame. */
  unknownChannel: boolean;
  /** So many stray bytes before each frame. */
  garbageBytes: number;
  // --- RTP
  /** Sends nothing, keeps the connection. Media time goes on. */
  stall: boolean;
  /** Sound is announced and set up, and none is sent. */
  silentAudio: boolean;
  /** UDP packets go nowhere. */
  udpBlocked: readonly ('video' | 'audio' | 'metadata')[];
  /** Share of packets lost, duplicated, swapped with the next one; or which ones, by their count. */
  loss: number | ((packet: number) => boolean);
  duplication: number | ((packet: number) => boolean);
  reordering: number | ((packet: number) => boolean);
  /** Uniview. */
  ssrcChangesEachGop: boolean;
  /** Packets of payload type 50 between the others (Geovision), with sequence numbers of their own or not. */
  foreignPayloadType: 'none' | 'own-sequence' | 'in-sequence';
  /** Missing as of FLIR M400, on parameter sets as of Tapo TC70. */
  marker: 'normal' | 'missing' | 'every-nal' | 'on-parameter-sets';
  timestamps: 'normal' | 'constant' | 'changes-inside-frame';
  /** Both bits as of CostarHD and OpenIPC, other types as of Tiandy. */
  fragments: 'normal' | 'start-and-end' | 'type-differs' | 'empty';
  aggregation: 'none' | 'normal' | 'zero-padded';
  packetizationMode: 0 | 1;
  maxPayloadBytes: number;
  /** The access unit as one NAL unit with start codes inside (V380). */
  annexB: boolean;
  inBandParameterSets: 'as-source' | 'none';
  adtsInside: boolean;
  /** New players get frames at once, not from a keyframe on. */
  startMidGop: boolean;
  senderReports: 'on' | 'off' | 'insane-ntp' | 'unknown-ssrc';
};

/** A camera as the standards have it. */
export const noFaults = (): Faults => ({
  answer: null,
  neverAnswer: [],
  resetOn: [],
  byteDelayMs: null,
  editAnswer: null,
  cseq: 'normal',
  publicMethods: [
    'OPTIONS',
    'DESCRIBE',
    'SETUP',
    'PLAY',
    'PAUSE',
    'GET_PARAMETER',
    'SET_PARAMETER',
    'TEARDOWN',
  ],
  contentBase: 'normal',
  contentType: 'normal',
  control: 'relative',
  sprop: 'normal',
  editSdp: null,
  interleavedIds: 'asked',
  transportHeader: 'normal',
  sessionIdChanges: false,
  sessionTimeoutSec: 60,
  rtpInfo: 'normal',
  framesBeforePlayReply: 0,
  keepalive: 'answer',
  requires: 'nothing',
  unknownChannel: false,
  garbageBytes: 0,
  stall: false,
  silentAudio: false,
  udpBlocked: [],
  loss: 0,
  duplication: 0,
  reordering: 0,
  ssrcChangesEachGop: false,
  foreignPayloadType: 'none',
  marker: 'normal',
  timestamps: 'normal',
  fragments: 'normal',
  aggregation: 'none',
  packetizationMode: 1,
  maxPayloadBytes: 1400,
  annexB: false,
  inBandParameterSets: 'as-source',
  adtsInside: false,
  startMidGop: false,
  senderReports: 'on',
});

/** Faults of one mount: what isn't set on them is taken from `common`, also when that changes later. */
export const faultsOver = (common: Faults): Faults => Object.create(common) as Faults;

/** Whether a fault that is a share, or a rule by count, strikes now. */
export const strikes = (
  rule: number | ((packet: number) => boolean),
  packet: number,
  random: () => number,
): boolean => (typeof rule === 'function' ? rule(packet) : rule > 0 && random() < rule);
