/** WebSocket viewers in a process of their own: they look at heads and send times, and cost little beside that. */
import { systemClock } from '../src/base/clock.js';
import { sendTimeMs } from '../test/support/frame-generator.js';
import { answer } from './child.js';
import { WebSocketStream } from './viewers/websocket-stream.js';
import { WALL_PATH } from './wall-path.js';

export type ClientsQuestion =
  | {
      readonly type: 'connect';
      readonly port: number;
      readonly cameraIds: readonly string[];
      readonly isStalled: boolean;
    }
  /** So many pages, each with a tile for each camera. */
  | {
      readonly type: 'connect-walls';
      readonly port: number;
      readonly cameraIds: readonly string[];
      readonly count: number;
    }
  | { readonly type: 'measure'; readonly seconds: number };

export type ClientsAnswer = {
  /** From the connection's start to the first whole picture. */
  readonly firstPictureMs: readonly number[];
  /** From the last packet that a camera sent to the whole frame at a viewer. */
  readonly latenciesMs: readonly number[];
};

const firstPictureMs: number[] = [];
let latenciesMs: number[] = [];
let isMeasuring = false;
/** Once there are walls, their frames alone are measured. */
let hasWalls = false;

/** One viewer. */
class Client {
  hasPicture = false;
  isUpgraded = false;
  readonly stream: WebSocketStream;
  readonly #startMs = systemClock.monotonicMs();

  constructor(port: number, name: string, isStalled: boolean) {
    const onUpgraded = (): void => {
      this.isUpgraded = true;
    };
    this.stream = new WebSocketStream(port, `/${name}`, { onUpgraded, onFrame: this.#onFrame }, isStalled);
  }

  readonly #onFrame = (stamp: Buffer, _stream: number, isOfWall: boolean): void => {
    const nowMs = systemClock.monotonicMs();
    if (!this.hasPicture) {
      this.hasPicture = true;
      firstPictureMs.push(nowMs - this.#startMs);
    }
    if (isMeasuring && isOfWall === hasWalls) latenciesMs.push(nowMs - sendTimeMs(stamp));
  };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

answer(async (question: ClientsQuestion): Promise<ClientsAnswer> => {
  if (question.type === 'connect-walls') {
    hasWalls = true;
    const made = Array.from({ length: question.count }, () => new Client(question.port, WALL_PATH, false));
    while (made.some((client) => !client.isUpgraded)) await sleep(5);
    for (const { stream } of made) stream.showWall(question.cameraIds);
    while (made.some((client) => !client.hasPicture)) await sleep(5);
    return { firstPictureMs: [], latenciesMs: [] };
  }
  if (question.type === 'connect') {
    const made = question.cameraIds.map((id) => new Client(question.port, id, question.isStalled));
    while (!question.isStalled && made.some((client) => !client.hasPicture)) await sleep(5);
    return { firstPictureMs, latenciesMs: [] };
  }
  latenciesMs = [];
  isMeasuring = true;
  await sleep(question.seconds * 1000);
  isMeasuring = false;
  return { firstPictureMs, latenciesMs };
});
