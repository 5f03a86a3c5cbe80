import assert from 'node:assert/strict';
import { parse as parsePlaylist } from '../live/hls/playlist-reader.js';
import type { ApiAnswer } from '../support/api-client.js';
import type { RunningService } from '../support/service.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { WhepClient } from '../support/whep-client.js';

/** What a viewer has to show for itself: in the query or in the header. */
export type Shown = { readonly query?: string; readonly bearer?: string };

const SDP = { 'content-type': 'application/sdp' };
/** Far beyond what it takes, on a machine that does much else. */
const OPEN_DEADLINE_MS = 30_000;
/** By then whoever may not watch any more watches no more. */
export const END_DEADLINE_MS = 15_000;

/** An address with something more in its query. */
export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;

const get = (service: RunningService, path: string, bearer?: string): Promise<ApiAnswer> =>
  service.call('GET', path, { token: bearer ?? null });

/** The status by which a WebSocket is refused, or 101. */
const upgradeStatus = async (service: RunningService, path: string, bearer?: string): Promise<number> => {
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const viewer = new WebSocketViewer(`${service.url.replace(/^http/, 'ws')}${path}`, { headers });
  const fault = await until(
    'the WebSocket is answered',
    () => viewer.faults[0] ?? (viewer.configs.length > 0 && 'open'),
    { deadlineMs: OPEN_DEADLINE_MS },
  );
  viewer.webSocket.terminate();
  return fault === 'open' ? 101 : Number(/(\d{3})$/.exec(fault)?.[1]);
};

const whepPath = (cameraId: string): string => `/stream/webrtc/whep/${cameraId}`;

/** The name of a recording of the camera of which something can be played. */
export const playableFile = (service: RunningService, cameraId: string, bearer: string): Promise<string> =>
  until(
    `${cameraId} has a recording`,
    async () => {
      const { body } = await get(service, `/api/cameras/${cameraId}/archive`, bearer);
      const file: string | undefined = body[0]?.filename;
      if (file === undefined) return null;
      const { text } = await get(service, `/hls/${cameraId}/archive.m3u8?file=${file}`, bearer);
      return text.includes('segment.ts') ? file : null;
    },
    { deadlineMs: OPEN_DEADLINE_MS },
  );

/** Every address at which a camera and its recording `file` are watched by asking again and again. */
const polledPaths = (cameraId: string, file: string): string[] => {
  const now = Date.now();
  const [from, to] = [now - 60_000, now].map((ms) => new Date(ms).toISOString());
  return [
    ...[
      'index.m3u8',
      'stream.m3u8',
      'subs.m3u8',
      'll.m3u8',
      'segment_0.ts',
      'part_0_0.m4s',
      'init_1.mp4',
    ].map((name) => `/stream/hls/${cameraId}/${name}`),
    `/api/cameras/${cameraId}/snapshot.jpg`,
    `/hls/${cameraId}/archive.m3u8?file=${file}`,
    `/hls/${cameraId}/range.m3u8?from=${from}&to=${to}`,
    `/hls/${cameraId}/segment.ts?file=${file}&seq=0`,
  ];
};

/** Tries every output; the status of each, and the error codes that there were. */
export const knock = async (
  service: RunningService,
  { cameraId, file }: { readonly cameraId: string; readonly file: string },
  { query = '', bearer }: Shown,
): Promise<{ statuses: Record<string, number>; codes: string[] }> => {
  const client = await WhepClient.create();
  const statuses: Record<string, number> = {};
  const codes = new Set<string>();
  const keep = (name: string, { status, body }: ApiAnswer): void => {
    statuses[name] = status;
    if (body?.code !== undefined) codes.add(body.code);
  };
  const socketPath = withQuery(`/stream/ws/${cameraId}`, query);
  statuses['websocket'] = await upgradeStatus(service, socketPath, bearer);
  const offered = await service.call('POST', withQuery(whepPath(cameraId), query), {
    body: client.offer,
    headers: SDP,
    token: bearer ?? null,
  });
  keep('whep', offered);
  client.close();
  const location = offered.headers.get('location');
  if (location !== null) assert.equal((await service.call('DELETE', location)).status, 200);
  for (const path of polledPaths(cameraId, file)) {
    const name = /([a-z]+)[^/]*$/.exec(path.split('?')[0]!)![0];
    keep(name, await get(service, withQuery(path, query), bearer));
  }
  return { statuses, codes: [...codes].sort() };
};

/** One person who watches one camera by every output at once. */
export class EveryOutput {
  readonly cameraId: string;
  readonly webSocket: WebSocketViewer;
  readonly whep: WhepClient;
  /** What its players poll, each as they were given it. */
  readonly polled: Readonly<Record<string, string>>;
  /** The viewing session; null where the camera asks for none. */
  readonly session: string | null;
  /** Where the WHEP session ends. */
  readonly location: string;
  readonly #service: RunningService;

  private constructor(
    service: RunningService,
    cameraId: string,
    parts: Pick<EveryOutput, 'webSocket' | 'whep' | 'polled' | 'session' | 'location'>,
  ) {
    this.#service = service;
    this.cameraId = cameraId;
    this.webSocket = parts.webSocket;
    this.whep = parts.whep;
    this.polled = parts.polled;
    this.session = parts.session;
    this.location = parts.location;
  }

  /** Begins to watch, and waits until there are pictures everywhere. */
  static async open(
    service: RunningService,
    { cameraId, file }: { readonly cameraId: string; readonly file: string },
    query = '',
  ): Promise<EveryOutput> {
    const webSocket = new WebSocketViewer(
      withQuery(`${service.url.replace(/^http/, 'ws')}/stream/ws/${cameraId}`, query),
    );
    const whep = await WhepClient.create({ countOnly: true });
    const offered = await service.call('POST', withQuery(whepPath(cameraId), query), {
      body: whep.offer,
      headers: SDP,
    });
    assert.equal(offered.status, 201, offered.text);
    whep.start(offered.text);
    const { polled, session } = await openPlaylists(service, cameraId, file, query);
    await webSocket.untilFrames(3);
    await until('WebRTC shows pictures', () => whep.packets > 3, { deadlineMs: OPEN_DEADLINE_MS });
    const location = offered.headers.get('location') ?? '';
    return new EveryOutput(service, cameraId, { webSocket, whep, polled, session, location });
  }

  /** What each poll is answered now. */
  async statuses(): Promise<Record<string, number>> {
    const asked = Object.entries(this.polled).map(async ([name, path]) => {
      return [name, (await get(this.#service, path)).status] as const;
    });
    return Object.fromEntries(await Promise.all(asked));
  }

  /** Whether pictures go on to come by every output. */
  async untilGoingOn(): Promise<void> {
    const [frames, packets] = [this.webSocket.frames.length, this.whep.packets];
    await this.webSocket.untilFrames(frames + 3);
    await until('WebRTC packets come', () => this.whep.packets > packets, { deadlineMs: OPEN_DEADLINE_MS });
    for (const [name, status] of Object.entries(await this.statuses())) assert.equal(status, 200, name);
    assert.deepEqual(this.webSocket.faults, []);
  }

  /** That connections are closed within the time that they may take, and polls refused. */
  async untilEnded(closeCode: number, status: (name: string) => number): Promise<void> {
    await until('connections end', () => this.webSocket.closedWith !== null && this.whep.isClosedByServer, {
      deadlineMs: END_DEADLINE_MS,
      describe: () => `WebSocket ${this.webSocket.closedWith}, WHEP ${this.whep.isClosedByServer}`,
    });
    assert.equal(this.webSocket.closedWith, closeCode);
    const expected = Object.keys(this.polled).map((name) => [name, status(name)]);
    assert.deepEqual(await this.statuses(), Object.fromEntries(expected));
  }

  /** Leaves as a polite player does. */
  async leave(): Promise<void> {
    this.webSocket.webSocket.close();
    assert.equal((await this.#service.call('DELETE', this.location)).status, 200);
  }

  /** Gives back what this process has of it. */
  vanish(): void {
    this.webSocket.webSocket.terminate();
    this.whep.close();
  }
}

const openPlaylists = async (
  service: RunningService,
  cameraId: string,
  file: string,
  query: string,
): Promise<Pick<EveryOutput, 'polled' | 'session'>> => {
  const text = async (path: string): Promise<string> => {
    const answer = await get(service, path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.text;
  };
  const live = `/stream/hls/${cameraId}/`;
  const manifest = withQuery(`${live}index.m3u8`, query);
  const lowLatency = withQuery(`${live}ll.m3u8`, query);
  const archive = withQuery(`/hls/${cameraId}/archive.m3u8?file=${file}`, query);
  const master = await text(manifest);
  const [video = '', subtitles = ''] = [/^stream\.m3u8.*$/m, /subs\.m3u8[^"]*/].map(
    (pattern) => live + pattern.exec(master)?.[0],
  );
  const parts = await text(lowLatency);
  const recorded = parsePlaylist(await text(archive));
  const segments = parsePlaylist(await text(video)).segments.map(({ uri }) => live + uri);
  // The one that is in the window for longest.
  await text(segments.at(-1) ?? '');
  const polled = {
    manifest,
    video,
    subtitles,
    lowLatency,
    init: live + (/URI="(init[^"]*)"/.exec(parts)?.[1] ?? ''),
    archive,
    recording: `/hls/${cameraId}/${recorded.segments[0]?.uri}`,
  };
  for (const path of Object.values(polled)) await text(path);
  return { polled, session: new URLSearchParams(video.split('?')[1] ?? '').get('session') };
};
