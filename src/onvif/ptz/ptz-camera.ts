import { at, textOf } from '../../analytics/xml-tree.js';
import type { Clock } from '../../base/clock.js';
import type { AppError } from '../../base/errors.js';
import { type DeviceOptions, OnvifDevice } from '../device.js';
import { isOnvifError, onvifError } from '../errors.js';
import { readProfiles } from '../profiles.js';
import { plainLine } from '../soap.js';
import {
  moveXml,
  newPresetXml,
  type Preset,
  presetXml,
  readPresets,
  stopXml,
  type Velocity,
} from './commands.js';
import { PtzDrive } from './drive.js';

export type PtzCameraOptions = Omit<DeviceOptions, 'address'> & {
  readonly address: URL;
  /** Token of the profile; "": the first that can be moved. */
  readonly profile: string;
};

export type PtzCameraDeps = { readonly clock: Clock; readonly onRunaway: (fault: unknown) => void };

type Opened = { readonly device: OnvifDevice; readonly profile: string };

/** Should we be gone, or the line be cut. */
const CAMERA_LIMIT = 'PT2S';

/** The profile by which it is moved is no more (ter:NoProfile). */
const isProfileGone = ({ details: { codes } }: AppError): boolean =>
  Array.isArray(codes) && codes.includes('NoProfile');

/** One camera that can be moved, if it can. */
export class PtzCamera {
  readonly #options: PtzCameraOptions;
  readonly #deps: PtzCameraDeps;
  readonly #drive: PtzDrive;
  #opened: Promise<Opened | null> | null = null;
  #takesLimit = true;
  #listing: Promise<Preset[]> | null = null;

  constructor(options: PtzCameraOptions, deps: PtzCameraDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#drive = new PtzDrive({
      ...{ clock: deps.clock, onRunaway: deps.onRunaway },
      move: (to, from) => this.#move(to, from),
      stop: async () => void (await this.#ask('Stop', (profile) => stopXml(profile))),
    });
  }

  get isMoving(): boolean {
    return this.#drive.isMoving;
  }

  /** Whether it can be moved. Throws an OnvifError where it doesn't say. */
  async isOffered(): Promise<boolean> {
    return (await this.#open()) !== null;
  }

  move(velocity: Velocity): Promise<void> {
    return this.#drive.move(velocity);
  }

  stop(): Promise<void> {
    return this.#drive.stop();
  }

  /** However many ask at a time, the camera is asked once. */
  presets(): Promise<Preset[]> {
    this.#listing ??= this.#ask('GetPresets', (profile) => presetXml(profile, ''))
      .then(readPresets)
      .finally(() => {
        this.#listing = null;
      });
    return this.#listing;
  }

  async goTo(preset: string): Promise<void> {
    await this.#drive.stop();
    await this.#ask('GotoPreset', (profile) => presetXml(profile, preset));
  }

  /** Keeps where it looks; answers its token. */
  async setPreset(name: string): Promise<Preset> {
    const answer = await this.#ask('SetPreset', (profile) => newPresetXml(profile, name));
    return { token: plainLine(textOf(at(answer, 'PresetToken')), 128), name };
  }

  async removePreset(preset: string): Promise<void> {
    await this.#ask('RemovePreset', (profile) => presetXml(profile, preset));
  }

  async #move(to: Velocity, from: Velocity): Promise<void> {
    const tell = (limit: string) =>
      this.#ask('ContinuousMove', (profile) => moveXml(profile, to, from, limit));
    if (!this.#takesLimit) return void (await tell(''));
    try {
      await tell(CAMERA_LIMIT);
    } catch (fault) {
      if (!isOnvifError(fault) || fault.code !== 'camera_refused' || isProfileGone(fault)) throw fault;
      // Some take no limit, or others than they say (§5.3.3 leaves that open): ours is the dead man's.
      await tell('');
      this.#takesLimit = false;
    }
  }

  async #ask(operation: string, inside: (profile: string) => string) {
    const opened = await this.#open();
    if (opened === null) throw onvifError('no_ptz', 'this camera can not be moved');
    try {
      return await opened.device.call('ptz', operation, inside(opened.profile));
    } catch (fault) {
      // Its clock was set, it was exchanged or set up anew: it is asked anew the next time.
      if (isOnvifError(fault) && (fault.code !== 'camera_refused' || isProfileGone(fault)))
        this.#opened = null;
      throw fault;
    }
  }

  #open(): Promise<Opened | null> {
    this.#opened ??= this.#begin().then(
      (opened) => {
        if (opened === null) this.#opened = null;
        return opened;
      },
      (fault: unknown) => {
        this.#opened = null;
        throw fault;
      },
    );
    return this.#opened;
  }

  async #begin(): Promise<Opened | null> {
    const device = new OnvifDevice(this.#options, { clock: this.#deps.clock });
    await device.open();
    const { ptz, media } = device.services;
    if (ptz === undefined) return null;
    const service = media === undefined ? 'media2' : 'media';
    const inside = service === 'media2' ? '<Type>PTZ</Type>' : '';
    const profiles = readProfiles(service, await device.call(service, 'GetProfiles', inside));
    const wanted = this.#options.profile;
    const found = profiles.find(({ token, hasPtz }) => hasPtz && (wanted === '' || token === wanted));
    return found === undefined ? null : { device, profile: found.token };
  }
}
