import { archiveError } from '../../src/archive/archive-error.js';
import { Export } from '../../src/archive/bundle/exports.js';
import { authError } from '../../src/auth/auth-error.js';
import { AppError } from '../../src/base/errors.js';
import { eventIdOf, type KeptEvent } from '../../src/events/kept/event.js';
import { archiveRoutes } from '../../src/http/routes/archive.js';
import { type CameraTestRoutesDeps, cameraTestRoutes } from '../../src/http/routes/camera-tests.js';
import { clusterRoutes } from '../../src/http/routes/cluster.js';
import { exportRoutes } from '../../src/http/routes/exports.js';
import { hlsRoutes } from '../../src/http/routes/hls.js';
import { type KeptEventRoutesDeps, keptEventRoutes } from '../../src/http/routes/kept-events.js';
import { meRoutes } from '../../src/http/routes/me.js';
import { type PictureSource, snapshotRoutes } from '../../src/http/routes/snapshot.js';
import { userRoutes } from '../../src/http/routes/users.js';
import { type WhepSource, whepRoutes } from '../../src/http/routes/whep.js';
import type { Picture } from '../../src/pictures/picture.js';
import type { ArchivedPicture } from '../../src/pictures/pictures.js';
import { sourceKey } from '../../src/ring/source-key.js';
import { HlsCamera, makeHls } from '../live/hls/hls-camera.js';
import { FakeArchive } from '../support/fake-archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { startWebServer, type WebServer } from '../support/web-server.js';
import { fakeCluster } from './contract-cluster.js';

const busy = (): never => {
  throw authError('login_busy', 'too many logins at once', { retryAfterSec: 2 });
};

const tooMuch = (): Promise<never> =>
  Promise.reject(archiveError('archive_busy', 'too much to do', { retryAfterSec: 3 }));

/** Tests of cameras that answer at once, or are too many. */
const fakeTests: CameraTestRoutesDeps['tests'] = {
  test: async ({ url }) => {
    if (url.includes('busy')) throw new AppError('tests_busy', 'too many', { details: { retryAfterSec: 2 } });
    const seen = { codec: 'h264', width: 640, height: 360, fps: 25, keyframe_ms: 2_000, reorder: 0 };
    return { ok: true, code: 'ok', detail: '', ...seen, audio_codec: '', test_id: 't1' };
  },
  take: () => [Buffer.alloc(8)],
};

/** WebRTC sessions without WebRTC: answers or refuses as the test says, and notes what was ended. */
export class FakeWhep implements WhepSource {
  refusal: Error | null = null;
  readonly ended: string[] = [];

  async offer(): Promise<{ sessionId: string; answerSdp: string }> {
    if (this.refusal !== null) throw this.refusal;
    return { sessionId: 'a-secret', answerSdp: 'v=0\r\n' };
  }

  end(cameraId: string, sessionId: string): boolean {
    if (this.ended.length > 0) return false;
    this.ended.push(`${cameraId} ${sessionId}`);
    return true;
  }
}

/** Pictures without ffmpeg: there is one, or none, as the test says. */
export class FakePictures implements PictureSource {
  refusal: Error | null = null;
  /** Of an event. */
  isThere = true;

  async live(): Promise<Picture> {
    if (this.refusal !== null) throw this.refusal;
    return { jpeg: Buffer.from('a picture'), etag: '"p"', takenMs: 0 };
  }

  async archived(): Promise<ArchivedPicture> {
    return { ...(await this.live()), isSettled: true };
  }
}

/** The id of the only event that there is. */
export const EVENT_ID = 'abc';

/** One event, or whatever the test throws. */
export class FakeEvents {
  refusal: Error | null = null;
  #event: KeptEvent = {
    ...{ id: eventIdOf(EVENT_ID) ?? 0, cameraId: 'open', type: 'camera_lost', label: '', score: null },
    ...{ fromMs: 0, toMs: null, isProtected: false, detail: 'away' },
  };

  page() {
    if (this.refusal !== null) throw this.refusal;
    return { seen: [{ event: this.#event, isReviewed: false }], next: null };
  }

  find(id: number) {
    const [seen] = this.page().seen;
    return seen?.event.id === id ? seen : null;
  }

  review(): number {
    return this.page().seen.length;
  }

  protect(_id: number, isProtected: boolean): void {
    if (isProtected) throw new AppError('too_many_protected', 'too many');
  }
}

const eventDeps = (events: FakeEvents, pictures: FakePictures): KeptEventRoutesDeps => ({
  events,
  cameras: { ids: [], withTag: () => new Set(), inFolder: () => new Set() },
  pictures: { of: async () => (pictures.isThere ? pictures.live() : null) },
});

/**
 * The service's own routes over outputs of the test's own: a camera that has a picture, without a worker; an archive
 * and accounts that are too busy.
 */
export const startFakeOutputs = async (): Promise<{
  readonly server: WebServer;
  readonly whep: FakeWhep;
  readonly pictures: FakePictures;
  readonly events: FakeEvents;
  /** Lets the camera `open` send. */
  readonly play: (seconds: number) => void;
  readonly stop: () => Promise<void>;
}> => {
  const clock = new FakeClock();
  const rig = makeHls(clock);
  const camera = new HlsCamera(clock, fixtures.h264High());
  rig.cameras.set('open', camera);
  const whep = new FakeWhep();
  const pictures = new FakePictures();
  const events = new FakeEvents();
  const sources = { sourceOf: sourceKey };
  const archive = new FakeArchive();
  const server = await startWebServer([
    ...hlsRoutes({ hls: rig.hls, sources }),
    ...whepRoutes({ whep, sources }),
    ...snapshotRoutes({ pictures, sources }),
    ...keptEventRoutes(eventDeps(events, pictures)),
    ...archiveRoutes({
      clock,
      cameras: { has: () => true },
      deleted: { has: () => false },
      recordings: { isShared: false, list: tooMuch },
      timeline: { intervals: tooMuch },
      playback: {
        archivePlaylist: (...asked) => archive.archivePlaylist(...asked),
        rangePlaylist: (...asked) => archive.rangePlaylist(...asked),
        segment: (...asked) => archive.segment(...asked),
      },
      keyFrames: { keyFramePlaylist: tooMuch, content: tooMuch },
      frames: { frames: tooMuch },
      viewers: { takePlace: () => ({ release: () => {} }) },
      exports: { clip: tooMuch },
      deletions: { deleteWithin: tooMuch },
      detections: { detections: tooMuch },
      subtitles: archive,
    }),
    ...exportRoutes({
      clock,
      cameras: { has: () => true },
      exports: {
        make: tooMuch,
        find: () => new Export('viewer', 0, [], false),
        content: tooMuch,
        end: () => undefined,
      },
      viewers: { takePlace: () => ({ release: () => {} }) },
    }),
    ...clusterRoutes(fakeCluster),
    ...meRoutes({
      accounts: { mustChangePassword: () => false, changePassword: busy },
      sessions: { of: () => [], endOf: () => false },
      timeZone: () => 'UTC',
      box: null,
      preferences: { textOf: () => '{}', put: () => undefined },
      change: async (work) => work(),
    }),
    ...cameraTestRoutes({ tests: fakeTests, cameras: { unmasked: (_id, _stream, url) => url } }),
    ...userRoutes({ accounts: { list: busy, create: busy, update: busy, remove: busy } }),
  ]);
  const boss = { username: 'boss', role: 'admin', password_hash: 'h', token_epoch: 'epoch-1' } as const;
  server.users.set('boss', boss);
  return {
    server,
    whep,
    pictures,
    events,
    play: (seconds) => camera.play(seconds),
    stop: async () => {
      rig.hls.stop();
      await server.stop();
    },
  };
};
