import { at, type Element, textOf } from '../analytics/xml-tree.js';
import type { Clock } from '../base/clock.js';
import { startDeadline } from '../base/deadline.js';
import { AppError } from '../base/errors.js';
import type { Credentials } from '../rtsp/auth.js';
import type { CertificatePolicy } from '../rtsp/quirks.js';
import { clockRemark } from './camera-time.js';
import { type ChosenStreams, chooseStreams } from './choose-streams.js';
import { OnvifDevice } from './device.js';
import { parseDeviceAddress, streamUrl } from './device-address.js';
import { isOnvifError, onvifError } from './errors.js';
import { type Profile, readProfiles, readUri, streamQuestion } from './profiles.js';
import type { ServiceName } from './services.js';
import { escapeXml, plainLine } from './soap.js';

export type ProbeInput = {
  readonly address: string;
  readonly credentials: Credentials | null;
  readonly certificate: CertificatePolicy;
};

/** One of a camera's streams as the device tells of it. */
export type OfferedStream = { readonly profile: Profile; readonly url: string };

/** What would be added as one camera. */
export type OfferedCamera = {
  readonly name: string;
  readonly main: OfferedStream;
  readonly sub: OfferedStream | null;
  /** "" where it tells none. */
  readonly snapshotUrl: string;
};

/** What a device is, and has. */
export type ProbedDevice = {
  /** As it was asked: what is kept to ask it again. */
  readonly address: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly firmware: string;
  readonly serial: string;
  /** Null: it tells no time. */
  readonly clockOffsetSec: number | null;
  readonly offers: Readonly<
    Record<'media2' | 'ptz' | 'imaging' | 'events' | 'analytics' | 'metadata', boolean>
  >;
  readonly profiles: readonly Profile[];
  readonly cameras: readonly OfferedCamera[];
  /** What the operator should know of it, in sentences. */
  readonly remarks: readonly string[];
};

/** A device that takes its time at every question is not waited for. */
const PROBE_LIMIT_MS = 30_000;
/** Recorders have 64 and more pictures: each is asked for by itself. */
const MAX_CAMERAS = 64;
const MAX_TEXT = 64;

const textIn = (element: Element | null, name: string): string =>
  element === null ? '' : plainLine(textOf(at(element, name)), MAX_TEXT);

/** What it refuses, or answers strangely, it has not. Whatever else is wrong ends the probe. */
const orNull = async <Value>(asked: Promise<Value>): Promise<Value | null> => {
  try {
    return await asked;
  } catch (fault) {
    if (isOnvifError(fault) && ['camera_refused', 'camera_bad_answer', 'not_onvif'].includes(fault.code))
      return null;
    throw fault;
  }
};

type MediaService = 'media' | 'media2';
type Media = { readonly service: MediaService; readonly profiles: readonly Profile[] };

/** Media2 tells of H.265, Media of H.264 alone; what has streams to record counts. */
const readMedia = async (device: OnvifDevice): Promise<Media> => {
  const services = (['media2', 'media'] as const).filter((name) => device.services[name] !== undefined);
  if (services.length === 0)
    throw onvifError(
      'no_media_service',
      'the device has no media service, so it shows no pictures: is it a camera, and is its address that of a camera?',
    );
  let last: Media | null = null;
  let refusal: unknown;
  for (const service of services) {
    try {
      const inside = service === 'media2' ? '<Type>All</Type>' : '';
      const profiles = readProfiles(service, await device.call(service, 'GetProfiles', inside));
      last = { service, profiles };
      if (chooseStreams(profiles).length > 0) return last;
    } catch (fault) {
      if (!isOnvifError(fault) || fault.code === 'camera_unauthorized') throw fault;
      refusal = fault;
    }
  }
  if (last === null) throw refusal;
  return last;
};

const uriOf = async (
  device: OnvifDevice,
  service: MediaService,
  operation: 'GetStreamUri' | 'GetSnapshotUri',
  { token }: Profile,
): Promise<string> => {
  const inside =
    operation === 'GetStreamUri'
      ? streamQuestion(service, token)
      : `<ProfileToken>${escapeXml(token)}</ProfileToken>`;
  const answer = await orNull(device.call(service, operation, inside));
  return answer === null ? '' : readUri(answer);
};

class Probe {
  readonly #asked: URL;
  readonly #credentials: Credentials | null;
  readonly #device: OnvifDevice;
  readonly #remarks: string[] = [];

  constructor(
    { address, credentials, certificate }: ProbeInput,
    deps: { clock: Clock; signal: AbortSignal },
  ) {
    this.#asked = parseDeviceAddress(address);
    this.#credentials = credentials;
    this.#device = new OnvifDevice({ address: this.#asked, credentials, certificate }, deps);
  }

  async run(): Promise<ProbedDevice> {
    const device = this.#device;
    await device.open();
    const information = await orNull(device.call('device', 'GetDeviceInformation'));
    const { service, profiles } = await readMedia(device);
    const cameras = await this.#cameras(service, chooseStreams(profiles), profiles);
    const remark = clockRemark(device.clockOffsetSec ?? 0);
    if (remark !== '') this.#remarks.push(`the camera's clock is ${remark}: times in its picture are wrong`);
    const has = (name: ServiceName): boolean => device.services[name] !== undefined;
    return {
      address: this.#asked.href,
      manufacturer: textIn(information, 'Manufacturer'),
      model: textIn(information, 'Model'),
      firmware: textIn(information, 'FirmwareVersion'),
      serial: textIn(information, 'SerialNumber'),
      clockOffsetSec: device.clockOffsetSec,
      offers: {
        ...{
          media2: has('media2'),
          imaging: has('imaging'),
          events: has('events'),
          analytics: has('analytics'),
        },
        ptz: has('ptz') && profiles.some(({ hasPtz }) => hasPtz),
        metadata: profiles.some(({ hasMetadata }) => hasMetadata),
      },
      profiles,
      cameras,
      remarks: this.#remarks,
    };
  }

  async #cameras(
    service: MediaService,
    chosen: readonly ChosenStreams[],
    profiles: readonly Profile[],
  ): Promise<OfferedCamera[]> {
    if (chosen.length === 0)
      throw onvifError(
        'no_stream',
        profiles.length === 0
          ? 'the camera tells of no stream at all: set up a stream (profile) in its settings'
          : 'none of its streams is H.264 or H.265: choose one of these in the settings of the camera',
      );
    if (chosen.length > MAX_CAMERAS)
      this.#remarks.push(`the device has ${chosen.length} pictures: the first ${MAX_CAMERAS} are shown`);
    const cameras: OfferedCamera[] = [];
    for (const streams of chosen.slice(0, MAX_CAMERAS)) {
      const camera = await this.#camera(service, streams, chosen.length);
      if (camera !== null) cameras.push(camera);
    }
    if (cameras.length === 0)
      throw onvifError(
        'no_stream',
        'the camera gives no RTSP address for its streams: is RTSP switched on in it?',
      );
    return cameras;
  }

  async #camera(service: MediaService, streams: ChosenStreams, count: number): Promise<OfferedCamera | null> {
    const main = await this.#stream(service, streams.main);
    if (main === null) {
      this.#remarks.push(`no RTSP address for the stream ${streams.main.name || streams.main.token}`);
      return null;
    }
    // One snapshot address is enough to know whether there are any.
    const told = count > 8 ? '' : await uriOf(this.#device, service, 'GetSnapshotUri', streams.main);
    return {
      name: count > 1 ? streams.main.name || streams.source : '',
      main,
      sub: streams.sub === null ? null : await this.#stream(service, streams.sub),
      snapshotUrl: (told === '' ? null : this.#device.addressOf(this.#asked, told))?.href ?? '',
    };
  }

  async #stream(service: MediaService, profile: Profile): Promise<OfferedStream | null> {
    const told = await uriOf(this.#device, service, 'GetStreamUri', profile);
    const url = streamUrl(this.#asked, told, this.#credentials);
    return url === null ? null : { profile, url };
  }
}

/** Asks a device what it is and has. Throws what `errors.ts` lists; `signal` ends it early. */
export const probeDevice = async (
  input: ProbeInput,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<ProbedDevice> => {
  const reason = () =>
    onvifError('camera_timeout', `the camera needs more than ${PROBE_LIMIT_MS / 1_000} s to tell of itself`);
  const deadline = startDeadline(clock, { afterMs: PROBE_LIMIT_MS, reason }, signal);
  try {
    return await new Probe(input, { clock, signal: deadline.signal }).run();
  } catch (fault) {
    if (fault instanceof AppError) throw fault;
    deadline.signal.throwIfAborted();
    throw fault;
  } finally {
    deadline.end();
  }
};
