import type { Notice } from '../../analytics/metadata.js';
import type { Clock } from '../../base/clock.js';
import { startDeadline } from '../../base/deadline.js';
import { OnvifDevice } from '../device.js';
import { isOnvifError, onvifError } from '../errors.js';
import { readProfiles } from '../profiles.js';
import type { PtzCameraOptions } from '../ptz/ptz-camera.js';
import { type Pulled, PullPoints } from './pull-points.js';
import { foreignSources, type PulledNotice, pulledNotices } from './pulled-notices.js';
import { Subscription } from './subscription.js';
import { ToldNotices } from './told-notices.js';
import { toldAgoMs } from './told-until.js';

export type WatchEventsDeps = {
  readonly clock: Clock;
  /** From now on it tells what it notices. */
  readonly onOpen: () => void;
  /** It may have noticed what nobody will hear of, until now. */
  readonly onMissed: () => void;
  /** All is told that happened before so long ago; null: nobody knows how long. */
  readonly onNotices: (notices: readonly PulledNotice[], toldAgoMs: number | null) => void;
};

const OPEN_MS = 30_000;
/** A camera that answers at once each time is asked so often. */
const LEAST_MS = 500;
/** Whatever a camera answers, its answers take a twentieth of this thread's time at most. */
const PAUSE_TIMES = 20;
/** What the bounds of an answer allow takes less by far: the machine had other things to do. */
const MOST_MS = 5_000;

const pause = (clock: Clock, forMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (forMs <= 0 || signal.aborted) return resolve();
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(forMs, end);
    signal.addEventListener('abort', end);
  });

/** What is about others of the device's pictures; throws where nobody says which is this camera's. */
const foreignTo = async (device: OnvifDevice, profile: string): Promise<ReadonlySet<string>> => {
  const service = device.services.media === undefined ? 'media2' : 'media';
  if (device.services[service] === undefined) return new Set();
  const inside = service === 'media2' ? '<Type>VideoSource</Type>' : '';
  const profiles = readProfiles(service, await device.call(service, 'GetProfiles', inside));
  const own = profiles.find(({ token }) => token === profile);
  if (own !== undefined) return foreignSources(profiles, own);
  if (new Set(profiles.map(({ source }) => source)).size <= 1) return new Set();
  throw onvifError(
    'camera_refused',
    'the device has several pictures: onvif.profile has to name the one of this camera',
  );
};

/** What has to be asked before anything is heard: up to a dozen questions, and a slow camera takes its time for each. */
const open = async (
  options: PtzCameraOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly foreign: ReadonlySet<string>; readonly subscription: Subscription }> => {
  const deadline = startDeadline(
    clock,
    {
      afterMs: OPEN_MS,
      reason: () =>
        onvifError(
          'camera_timeout',
          `${options.address.host} takes longer than ${OPEN_MS / 1_000} s to say where its events are to be had`,
        ),
    },
    signal,
  );
  try {
    const device = new OnvifDevice(options, { clock, signal: deadline.signal });
    await device.open();
    const foreign = await foreignTo(device, options.profile);
    return { foreign, subscription: await Subscription.create(device, clock, deadline.signal) };
  } finally {
    deadline.end();
  }
};

/**
 * Hears what a camera notices for as long as nobody wants it to end; throws what `../errors.ts` lists when the camera tells
 * no more.
 */
export const watchEvents = async (
  options: PtzCameraOptions,
  { clock, onOpen, onMissed, onNotices }: WatchEventsDeps,
  signal: AbortSignal,
): Promise<void> => {
  const { foreign, subscription } = await open(options, clock, signal);
  const points = new PullPoints(subscription);
  const told = new ToldNotices(clock);
  if (!signal.aborted) onOpen();
  while (!signal.aborted) {
    const beganMs = clock.monotonicMs();
    let pulled: Pulled;
    try {
      pulled = await points.pull(signal);
    } catch (fault) {
      if (signal.aborted) break;
      // Of those that answer, many have room for a few pull points alone.
      if (isOnvifError(fault) && fault.code !== 'camera_unreachable' && fault.code !== 'camera_timeout')
        await points.end();
      throw fault;
    }
    const { what, answer } = pulled;
    const answeredMs = clock.monotonicMs();
    const newsOf = (notices: readonly Notice[]) =>
      what === 'new' ? told.hear(notices) : told.hearRest(notices, what !== 'more');
    if (answer === null) newsOf([]);
    else onNotices(pulledNotices(answer.element, foreign, clock.wallMs(), newsOf), toldAgoMs(answer.element));
    if (what === 'cut') onMissed();
    const doneMs = clock.monotonicMs();
    const tookMs = (answer?.readMs ?? 0) + doneMs - answeredMs;
    const pauseMs = Math.max(LEAST_MS - (doneMs - beganMs), Math.min(PAUSE_TIMES * tookMs, MOST_MS));
    await pause(clock, pauseMs, signal);
  }
  await points.end();
};
