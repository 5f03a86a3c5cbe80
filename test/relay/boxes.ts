import { createHash } from 'node:crypto';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import type { CameraSettings } from '../../src/camera/fleet/camera.js';
import { Relay } from '../../src/relay/relay.js';
import { cameraAt, Engine } from '../support/engine.js';

export const keyOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const KEY = keyOf('what all boxes of the test have');

/** The engine of a box, and what sends its frames to others. */
export class Box {
  readonly name: string;
  readonly engine: Engine;
  readonly relay: Relay;
  readonly lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];

  private constructor(name: string, engine: Engine, relay: Relay, lines: Box['lines']) {
    this.name = name;
    this.engine = engine;
    this.relay = relay;
    this.lines = lines;
  }

  static async start(name: string, key = KEY): Promise<Box> {
    const engine = new Engine('auto', undefined, undefined, { box: name, key });
    const lines: Box['lines'] = [];
    const log = createLogger((level, message, fields) => lines.push({ level, message, fields }));
    const relay = await Relay.start(
      { box: name, host: '127.0.0.1', port: 0, key },
      {
        ...{ clock: systemClock, log, feeds: engine.cameras, threads: { add: () => () => {} } },
        answers: (box, question) => {
          throw new Error(`${box} asked ${JSON.stringify(question)}`);
        },
      },
    );
    return new Box(name, engine, relay, lines);
  }

  /** The camera as another box has it, perhaps by another port. */
  pulls(cameraId: string, from: Box, port = from.relay.port): CameraSettings {
    const source = { url: '', transport: 'tcp' as const, from: { box: from.name, host: '127.0.0.1', port } };
    return cameraAt(cameraId, '', { source, isOnDemand: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.stop();
    await this.engine[Symbol.asyncDispose]();
  }
}
