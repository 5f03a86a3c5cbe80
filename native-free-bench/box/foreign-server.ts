import { renameSync, writeFileSync } from 'node:fs';
import { Child } from '../child.js';
import type { GeneratedCameras } from '../ingest-cameras.js';
import { UsageError } from '../options.js';
import type { ViewerKind, ViewersQuestion, ViewersReport, ViewerTarget } from '../viewers/messages.js';
import type { Subject } from './subject.js';

/** For whoever configures the other product, and starts it. */
const READY_TIMEOUT_MS = 600_000;
const POLL_MS = 500;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How an address is watched; null: by none of our viewers. */
const kindOf = (template: string): ViewerKind | null => {
  if (template.startsWith('rtsp://')) return 'rtsp';
  if (!/^https?:\/\//.test(template)) return null;
  return /\.m3u8(\?|$)/.test(template) ? 'hls' : 'whep';
};

/** Addresses with `{n}` in the place of a camera's number, by how they are watched. */
export const readTemplates = (text: string): ReadonlyMap<ViewerKind, string> => {
  const templates = new Map<ViewerKind, string>();
  for (const template of text.split(',')) {
    const kind = kindOf(template);
    if (kind === null || !template.includes('{n}') || !URL.canParse(template.replace('{n}', '0')))
      throw new UsageError(
        `--server is rtsp://…/{n}, http://…/{n}/whep or http://…/{n}/index.m3u8, not ${template}`,
      );
    templates.set(kind, template);
  }
  return templates;
};

/** Another product that has the same cameras. */
export class ForeignServer implements Subject {
  readonly pid: number;
  readonly list = null;
  readonly #templates: ReadonlyMap<ViewerKind, string>;
  readonly #cameras: number;

  constructor(pid: number, templates: ReadonlyMap<ViewerKind, string>, cameras: number) {
    this.pid = pid;
    this.#templates = templates;
    this.#cameras = cameras;
  }

  /** Waits until it pulls all cameras, and each kind of viewer gets a picture of the last one. */
  async ready(cameras: GeneratedCameras, onProgress: (text: string) => void): Promise<void> {
    const deadlineMs = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const { playing } = await cameras.report();
      onProgress(`it pulls ${playing} of ${this.#cameras} cameras`);
      if (playing >= this.#cameras) break;
      if (performance.now() > deadlineMs) throw new Error(`it pulls only ${playing} of the cameras`);
      await sleep(POLL_MS);
    }
    for (const kind of this.#templates.keys()) {
      for (let fault = await this.#try(kind); fault !== null; fault = await this.#try(kind)) {
        onProgress(`no picture by ${kind} yet: ${fault}`);
        if (performance.now() > deadlineMs) throw new Error(`no picture by ${kind}: ${fault}`);
        await sleep(POLL_MS);
      }
    }
  }

  async metrics(): Promise<null> {
    return null;
  }

  async targets(kind: ViewerKind, count: number): Promise<readonly ViewerTarget[]> {
    const template = this.#templates.get(kind) ?? '';
    return Array.from({ length: count }, (_, index) => ({
      url: template.replaceAll('{n}', String(index % this.#cameras)),
    }));
  }

  async stop(): Promise<void> {
    // It is not ours.
  }

  async #try(kind: ViewerKind): Promise<string | null> {
    const process = new Child<ViewersQuestion, ViewersReport>(new URL('../viewers/main.js', import.meta.url));
    try {
      const targets = (await this.targets(kind, this.#cameras)).slice(-1);
      return (await process.ask({ type: 'join', kind, targets })).faults[0] ?? null;
    } finally {
      process.end();
    }
  }
}

/** One line of JSON a camera; under its name only when it is whole. */
export const writeCamerasFile = (path: string, urls: readonly string[]): void => {
  const lines = urls.map((url, n) => `${JSON.stringify({ n, url })}\n`);
  writeFileSync(`${path}.part`, lines.join(''));
  renameSync(`${path}.part`, path);
};
