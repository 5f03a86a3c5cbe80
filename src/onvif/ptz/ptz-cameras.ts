import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { Turns } from '../../base/turns.js';
import { within } from '../../base/within.js';
import type { Credentials } from '../../rtsp/auth.js';
import type { CertificatePolicy } from '../../rtsp/quirks.js';
import { parseDeviceAddress } from '../device-address.js';
import { isOnvifError, onvifError } from '../errors.js';
import { PtzCamera } from './ptz-camera.js';

/** A camera whose settings say where it is asked by ONVIF. */
export type OnvifCamera = {
  readonly cameraId: string;
  readonly address: string;
  readonly profile: string;
  readonly credentials: Credentials | null;
  readonly certificate: CertificatePolicy;
};

export type PtzCamerasDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** All of them, as they are set now. */
  readonly cameras: () => Iterable<OnvifCamera>;
  /** Whether one can be moved has changed. */
  readonly onChange: () => void;
};

type Entry = {
  readonly camera: PtzCamera;
  /** What was set when it was made. */
  readonly settings: string;
  isOffered: boolean;
  nextLookMs: number;
  failures: number;
};

const LOOKS_AT_ONCE = 8;
const RETRY_FIRST_MS = 15_000;
const RETRY_LAST_MS = 600_000;
const STOP_MS = 3_000;

/** The cameras that are asked by ONVIF: whether they can be moved is found out when they are set, and again until they answer. */
export class PtzCameras {
  readonly #deps: PtzCamerasDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #turns: Turns;
  #isStopped = false;

  constructor(deps: PtzCamerasDeps) {
    this.#deps = deps;
    this.#turns = new Turns(
      { atOnce: LOOKS_AT_ONCE, maxWaiting: 10_000, maxInLane: 10_000, patienceMs: RETRY_LAST_MS },
      { clock: deps.clock, busy: () => onvifError('onvif_busy', 'too many cameras are being asked') },
    );
  }

  isOffered(cameraId: string): boolean {
    return this.#entries.get(cameraId)?.isOffered ?? false;
  }

  /** Throws `no_ptz`. */
  get(cameraId: string): PtzCamera {
    const entry = this.#entries.get(cameraId);
    if (entry?.isOffered !== true || this.#isStopped)
      throw onvifError('no_ptz', 'this camera can not be moved, or its ONVIF address does not answer');
    return entry.camera;
  }

  /** Takes over what is set now; called once a second. */
  look(): void {
    if (this.#isStopped) return;
    const gone = new Set(this.#entries.keys());
    for (const camera of this.#deps.cameras()) {
      gone.delete(camera.cameraId);
      this.#take(camera);
    }
    for (const cameraId of gone) this.#forget(cameraId);
  }

  /** Stops what moves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const moving = [...this.#entries.values()].filter(({ camera }) => camera.isMoving);
    const stopped = Promise.allSettled(moving.map(({ camera }) => camera.stop()));
    // A camera that answers nothing holds up no end.
    await within(this.#deps.clock, STOP_MS, stopped);
  }

  #take({ cameraId, ...settings }: OnvifCamera): void {
    const { clock, log } = this.#deps;
    const text = JSON.stringify(settings);
    let entry = this.#entries.get(cameraId);
    if (entry?.settings !== text) {
      this.#forget(cameraId);
      const { address, credentials, certificate, profile } = settings;
      const camera = new PtzCamera(
        { address: parseDeviceAddress(address), credentials, certificate, profile },
        {
          clock,
          onRunaway: (fault) =>
            log.error('a camera that moves takes no stop', { camera_id: cameraId, reason: reasonOf(fault) }),
        },
      );
      entry = { camera, settings: text, isOffered: false, nextLookMs: 0, failures: 0 };
      this.#entries.set(cameraId, entry);
    }
    if (clock.monotonicMs() < entry.nextLookMs) return;
    entry.nextLookMs = Number.POSITIVE_INFINITY;
    void this.#ask(cameraId, entry);
  }

  async #ask(cameraId: string, entry: Entry): Promise<void> {
    const { clock, log, onChange } = this.#deps;
    try {
      entry.isOffered = await this.#turns.run('', () => entry.camera.isOffered());
      if (entry.isOffered) onChange();
      // Asked while it started, or before somebody set it up: it may have more to offer later.
      else entry.nextLookMs = clock.monotonicMs() + RETRY_LAST_MS;
    } catch (fault) {
      entry.failures += 1;
      const waitMs = Math.min(RETRY_FIRST_MS * 2 ** (entry.failures - 1), RETRY_LAST_MS);
      entry.nextLookMs = clock.monotonicMs() + waitMs;
      if (entry.failures === 1)
        log.warn('a camera does not answer by ONVIF', { camera_id: cameraId, reason: reasonOf(fault) });
    }
  }

  #forget(cameraId: string): void {
    const entry = this.#entries.get(cameraId);
    if (entry === undefined) return;
    this.#entries.delete(cameraId);
    if (entry.camera.isMoving) entry.camera.stop().catch(() => {});
    if (entry.isOffered) this.#deps.onChange();
  }
}

/** Of what isn't ours nothing is told: it may hold anything. */
const reasonOf = (fault: unknown): string => (isOnvifError(fault) ? fault.message : 'a fault of ours');
