import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { HeldPlace } from './held-place.js';
import { httpError, problemOf } from './problem.js';
import { type ReportDeps, reportFault, reportRequest, requestIdOf } from './request-report.js';
import { type Route, route } from './route.js';
import { idParams, type StreamName, streamQuery } from './schemas.js';
import type { StreamAccess, ViewingPermission } from './stream-access.js';
import { validate } from './validate.js';
import type { WallVisitor } from './wall-visitor.js';

/** A request whose handshake is well formed, but not answered yet. */
type Connection = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent behind its request. */
  readonly head: Buffer;
};

/** A viewer of a camera that was let in. */
export type UpgradeCall = Connection & {
  readonly cameraId: string;
  readonly stream: StreamName;
  /** Released when the socket closes, or the handler throws; before that by whoever knows earlier. */
  readonly place: HeldPlace;
};

/** A page that was let in, and released like a viewer. */
export type WallCall = Connection & { readonly visitor: WallVisitor };

/** A declared WebSocket; what its `handle` throws before it wrote anything is answered like any error. */
export type StreamUpgrade = CameraUpgrade | WallUpgrade;

type CameraUpgrade = {
  readonly kind: 'camera';
  /** With `:id` for the camera. */
  readonly path: string;
  readonly summary: string;
  readonly permission: ViewingPermission;
  /** Takes the socket over. */
  readonly handle: (call: UpgradeCall) => void | Promise<void>;
};

type WallUpgrade = {
  readonly kind: 'wall';
  readonly path: string;
  readonly summary: string;
  /** Takes the socket over. */
  readonly handle: (call: WallCall) => void | Promise<void>;
};

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export type UpgradeDeps = ReportDeps & { readonly streams: StreamAccess };

/** How long a client that was refused may take to fetch the reason. */
const REFUSAL_TIMEOUT_MS = 5_000;

const writtenBytesOf = (socket: Duplex): number => (socket instanceof Socket ? socket.bytesWritten : 0);

/** Answers instead of upgrading, and ends the connection. */
const refuse = (
  socket: Duplex,
  { problem, headers }: ReturnType<typeof problemOf>,
  requestId: string,
): void => {
  const body = JSON.stringify(problem);
  const lines = Object.entries({
    ...headers,
    'X-Request-Id': requestId,
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n`;
  socket.end(head + body, () => socket.destroy());
  if (socket instanceof Socket) socket.setTimeout(REFUSAL_TIMEOUT_MS, () => socket.destroy());
};

/** RFC 6455, section 4.2.1. */
const checkHandshake = ({ method, headers }: IncomingMessage): void => {
  if (method !== 'GET')
    throw httpError('method_not_allowed', 'a WebSocket begins with GET', { allow: 'GET' });
  if (headers['sec-websocket-version'] !== '13')
    throw httpError('upgrade_required', 'only version 13 of the WebSocket protocol is spoken');
  if (!/^[A-Za-z0-9+/]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    throw httpError('bad_request', 'Sec-WebSocket-Key must be 16 bytes in base64');
};

const cameraIdIn = (encoded: string): string => {
  let id: string;
  try {
    id = decodeURIComponent(encoded);
  } catch {
    throw httpError('bad_request', 'the path is not encoded properly');
  }
  return validate(idParams, { id }).id;
};

const streamIn = (url: string): StreamName => {
  const queryAt = url.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt));
  return validate(streamQuery, Object.fromEntries(query)).stream;
};

class Upgrades {
  readonly #doors: readonly { readonly pattern: RegExp; readonly upgrade: StreamUpgrade }[];
  readonly #deps: UpgradeDeps;

  constructor(upgrades: readonly StreamUpgrade[], deps: UpgradeDeps) {
    this.#doors = upgrades.map((upgrade) => {
      // Paths are our own: nothing in them but :id means anything to a pattern.
      return { pattern: new RegExp(`^${upgrade.path.replace(':id', '([^/]+)')}/?$`), upgrade };
    });
    this.#deps = deps;
  }

  async take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const startMs = performance.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const door = this.#doors.find(({ pattern }) => pattern.test(path));
    const route = door?.upgrade.path ?? 'none';
    const method = request.method ?? '';
    const writtenBytes = writtenBytesOf(socket);
    let status = 101;
    try {
      if (door === undefined) throw httpError('route_not_found', 'there is no WebSocket at this path');
      checkHandshake(request);
      const connection = { request, socket, head };
      if (door.upgrade.kind === 'wall') await this.#openWall(door.upgrade, connection);
      else await this.#handOver(door.upgrade, cameraIdIn(door.pattern.exec(path)?.[1] ?? ''), connection);
    } catch (thrown) {
      const refusal = problemOf(thrown);
      status = refusal.problem.status;
      // Into a conversation that has begun nothing else may be written.
      if (writtenBytesOf(socket) > writtenBytes) socket.destroy();
      else refuse(socket, refusal, requestId);
      reportFault(this.#deps, thrown, { method, route, requestId, ...refusal.problem });
    }
    const durationSec = (performance.now() - startMs) / 1000;
    reportRequest(this.#deps, requestId, { method, route, status, durationSec });
  }

  async #handOver({ permission, handle }: CameraUpgrade, cameraId: string, by: Connection): Promise<void> {
    const stream = streamIn(by.request.url ?? '');
    const place = this.#deps.streams.connect(by.request, cameraId, permission);
    await this.#held(place, by, () => handle({ cameraId, stream, place, ...by }));
  }

  async #openWall({ handle }: WallUpgrade, by: Connection): Promise<void> {
    const visitor = this.#deps.streams.openWall(by.request);
    await this.#held(visitor, by, () => handle({ visitor, ...by }));
  }

  /** A place lasts as long as the socket, whatever becomes of either. */
  async #held(
    place: { release(): void },
    { socket }: Connection,
    handle: () => void | Promise<void>,
  ): Promise<void> {
    socket.once('close', () => place.release());
    try {
      await handle();
    } catch (thrown) {
      place.release();
      throw thrown;
    }
  }
}

/** What a server calls for every request to become a WebSocket: lets it in, or answers like to any request. */
export const createUpgradeListener = (
  upgrades: readonly StreamUpgrade[],
  deps: UpgradeDeps,
): UpgradeListener => {
  const listener = new Upgrades(upgrades, deps);
  return (request, socket, head) => void listener.take(request, socket, head);
};

/** The same paths for those who ask without upgrading, and for the document. */
export const upgradeRoutes = (upgrades: readonly StreamUpgrade[]): Route[] =>
  upgrades.map((upgrade) => {
    const asked = {
      method: 'get',
      path: upgrade.path,
      summary: upgrade.summary,
      answers: { 101: { description: 'The WebSocket', contentType: null } },
      problems: [426],
      handle: () => {
        throw httpError('upgrade_required', 'this is a WebSocket');
      },
    } as const;
    return upgrade.kind === 'wall'
      ? route({ ...asked, access: 'wall' })
      : route({
          ...asked,
          access: 'connection',
          permission: upgrade.permission,
          params: idParams,
          query: streamQuery,
        });
  });
