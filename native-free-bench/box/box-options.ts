import { readOptions, UsageError } from '../options.js';
import type { ViewerKind } from '../viewers/messages.js';
import { readResult } from './box-report.js';
import { readTemplates } from './foreign-server.js';

/** What is on the machine while it is measured. */
export const loadDefaults = {
  cameras: 10,
  /** Of each camera. */
  mbit: 4,
  fps: 25,
  /** Seconds from keyframe to keyframe. */
  gop: 2,
  codec: 'h264',
  /** paced: each RTP packet is a send of its own, 0.2 ms apart, as real cameras do; burst: one send a frame. */
  pattern: 'paced',
  record: false,
  /** Viewers of each kind, spread over the cameras; of a wall: its tiles. */
  ws: 0,
  whep: 0,
  hls: 0,
  wall: 0,
  rtsp: 0,
  /** So many times a second somebody asks for the list of cameras. */
  api: 2,
  /** Each window; there is one without viewers, and one more with each kind of them. */
  seconds: 10,
  /** Before the first window: every thread compiles its hot path for itself. Before each other one it is half of that. */
  'warm-up': 20,
  /** Processes that cameras are spread over; 0: as many as it takes. */
  'camera-processes': 0,
  json: '',
};

export const boxDefaults = {
  ...loadDefaults,
  /** Another product is measured in the place of the service: its addresses, with `{n}` for a camera, by commas. */
  server: '',
  'server-pid': 0,
  /** Where the cameras' addresses are written for whoever configures the other product. */
  'cameras-file': '',
  against: '',
};
export type BoxOptions = typeof boxDefaults;

/** The order in which viewers come. */
export const kinds: readonly ViewerKind[] = ['ws', 'wall', 'hls', 'rtsp', 'whep'];
/** Of a thread that sends each packet by itself, at 4 Mbit/s. */
const PACED_CAMERAS_PER_PROCESS = 250;
const BURST_CAMERAS_PER_PROCESS = 1_000;

const isWhole = (value: number): boolean => Number.isInteger(value) && value >= 0;

/** What another product can be asked for. */
const checkServer = (options: BoxOptions): void => {
  if (options.server === '') {
    if (options['server-pid'] !== 0 || options['cameras-file'] !== '')
      throw new UsageError('--server-pid and --cameras-file go with --server');
    return;
  }
  const templates = readTemplates(options.server);
  for (const kind of kinds)
    if (options[kind] > 0 && !templates.has(kind))
      throw new UsageError(`--server has no address for --${kind}`);
  if (options.record) throw new UsageError('what --server records, its own configuration says');
  if (options['cameras-file'] === '') throw new UsageError('--server wants a --cameras-file');
};

export const checkBoxOptions = (options: BoxOptions): void => {
  if (!isWhole(options.cameras) || options.cameras === 0) throw new UsageError('--cameras is 1 or more');
  for (const kind of kinds)
    if (!isWhole(options[kind])) throw new UsageError(`--${kind} is a number of viewers`);
  for (const name of ['mbit', 'fps', 'gop', 'seconds'] as const)
    if (options[name] <= 0) throw new UsageError(`--${name} is more than 0`);
  for (const name of ['api', 'warm-up', 'camera-processes'] as const)
    if (options[name] < 0) throw new UsageError(`--${name} is 0 or more`);
  checkServer(options);
  if (!['h264', 'h265'].includes(options.codec)) throw new UsageError('--codec is h264 or h265');
  if (options.against !== '') readResult(options.against);
  if (!['paced', 'burst'].includes(options.pattern)) throw new UsageError('--pattern is paced or burst');
};

export const readBoxOptions = (args: readonly string[]): BoxOptions => {
  const { options, rest } = readOptions('box', boxDefaults, args);
  if (rest.length > 0) throw new UsageError(`box takes options alone, not ${rest.join(' ')}`);
  checkBoxOptions(options);
  return options;
};

/** So many processes the cameras are spread over. */
export const cameraProcesses = (options: BoxOptions): number => {
  const most = options.pattern === 'paced' ? PACED_CAMERAS_PER_PROCESS : BURST_CAMERAS_PER_PROCESS;
  const needed = Math.ceil((options.cameras * options.mbit) / 4 / most);
  return Math.min(options.cameras, options['camera-processes'] || needed);
};
