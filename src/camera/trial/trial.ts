import type { Clock, Timer } from '../../base/clock.js';
import type { FromCameraWorker } from '../messages.js';
import { GopRecorder, type Seen } from './gop-recorder.js';

/** How a camera answered. */
export type TrialOutcome =
  | { readonly ok: true; readonly seen: Seen; readonly messages: readonly Buffer[] }
  /** `detail` says what to do about it. */
  | { readonly ok: false; readonly code: string; readonly detail: string };

const LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 100;
/** Sound may come a moment after the pictures, and a rate needs more than two of them. */
const MIN_WATCH_MS = 1_000;

/** What to do, where the fault itself only says what happened. */
const cures: Readonly<Record<string, string>> = {
  unsupported_codec: 'choose H.264 or H.265 for this stream in the settings of the camera',
  closed_by_camera: 'it may have too many viewers, or want another path or transport',
  protocol_error: 'check that the port is that of RTSP, and not of its web page',
  bad_sdp: 'check the path, or try another stream of the camera',
  stalled: 'try the other transport, or another stream of the camera',
  internal_error: 'the log of the service has more',
};

/** One session with a camera that isn't configured, from its first word to two keyframes, or ten seconds. */
export class Trial {
  readonly #clock: Clock;
  readonly #onOutcome: (outcome: TrialOutcome) => void;
  readonly #gop = new GopRecorder();
  readonly #timers: Timer[];
  #ring: SharedArrayBuffer | null = null;
  #streamingSinceMs: number | null = null;
  #waitsFor = '';
  #isPlaying = false;
  #isOver = false;

  constructor(deps: { clock: Clock; onOutcome: (outcome: TrialOutcome) => void }) {
    this.#clock = deps.clock;
    this.#onOutcome = deps.onOutcome;
    this.#timers = [
      deps.clock.after(LIMIT_MS, () => this.#onLimit()),
      deps.clock.every(LOOK_EVERY_MS, () => this.#look()),
    ];
  }

  /** What its worker says of it. */
  onMessage(message: FromCameraWorker): void {
    if (message.type === 'ring') this.#ring = message.ring;
    else if (message.type === 'playing') this.#isPlaying = true;
    else if (message.type === 'waiting') this.#waitsFor = message.waiting.waitsFor;
    else if (message.type === 'streaming') this.#streamingSinceMs = this.#clock.monotonicMs();
    else if (message.type === 'ended') this.fail(message.fault.code, message.fault.message);
  }

  fail(code: string, message: string): void {
    const cure = cures[code];
    this.#end({ ok: false, code, detail: cure === undefined ? message : `${message}; ${cure}` });
  }

  #look(): void {
    if (this.#ring === null || this.#streamingSinceMs === null) return;
    this.#gop.read(this.#ring);
    const watchedMs = this.#clock.monotonicMs() - this.#streamingSinceMs;
    if (this.#gop.isWhole && watchedMs >= MIN_WATCH_MS) this.#succeed();
  }

  #onLimit(): void {
    const seconds = LIMIT_MS / 1_000;
    if (this.#gop.seen !== null) this.#succeed();
    else if (this.#waitsFor === 'a keyframe')
      this.fail(
        'no_keyframe',
        `the camera sends, and no keyframe came within ${seconds} s: set a shorter keyframe interval (GOP) there`,
      );
    else if (this.#waitsFor !== '')
      this.fail(
        'no_picture',
        `the camera sends, and waits for ${this.#waitsFor}: try another codec or profile`,
      );
    else if (this.#isPlaying)
      this.fail(
        'no_picture',
        `no picture came within ${seconds} s: try the other transport, or look for a firewall`,
      );
    else
      this.fail(
        'timeout',
        `no answer within ${seconds} s: check address and port, and that nothing blocks the way`,
      );
  }

  #succeed(): void {
    const { seen, messages } = this.#gop;
    if (seen !== null) this.#end({ ok: true, seen, messages });
  }

  #end(outcome: TrialOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#onOutcome(outcome);
  }
}
