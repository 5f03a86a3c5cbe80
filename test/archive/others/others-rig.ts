import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { copiesPath, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import type { Copy } from '../../../src/archive/offsite/copy.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import type { BoxAnswer } from '../../../src/archive/others/asker-thread.js';
import { type NearBox, Others } from '../../../src/archive/others/others.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';

export const CAMERA = 'door';

/** A box with an address. */
export const near = (name: string, isHere = true): NearBox => ({
  ...{ name, isHere },
  address: { box: name, host: '127.0.0.1', port: 1 },
});

/** As a box tells of it; open: it is being written. */
export const rowOf = (box: string, startMs: number, endMs: number | null): Copy => ({
  recording: { startMs, endMs: endMs ?? startMs },
  stamp: { ino: 1, sizeBytes: 2, mtimeMs: endMs ?? startMs + 75_000, ctimeMs: 4 },
  inspection: { ...nothingKnown, startMs, endMs: endMs ?? startMs + 75_000 },
  ...{ sizeBytes: 2, mark: 0, sidecarBytes: 0, epoch: 1, box, isLeaving: false },
});

export type Ask = (box: string, question: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** What this box knows of others, which are asked without a network: what `asks.ask` says is what they answer. */
export const othersRig = (t: TestContext, boxes: NearBox[]) => {
  const [archiveDir, boxesDir] = [tempFolder(t), tempFolder(t)];
  const [clock, runner] = [new FakeClock(), new InlineRunner()];
  const { log, lines } = logLines();
  const asked: string[] = [];
  const nothing: Ask = async (_, { what }) =>
    what === 'news' ? { boot: 'b', upTo: 0, cameraIds: [], isMore: false } : { gone: [], isMore: false };
  const asks = { ask: nothing };
  const ask = async (box: string, question: Readonly<Record<string, unknown>>): Promise<BoxAnswer> => {
    asked.push(`${box} ${question['what']}`);
    const content = (await asks.ask(box, question)) as Record<string, unknown>;
    return { content, bytes: new Uint8Array(0) };
  };
  const others = new Others(
    { box: 'own', archiveDir, boxesDir, key: new Uint8Array(32) },
    {
      ...{ clock, log, threads: { add: () => () => {} }, boxes: () => boxes },
      spawnAsker: () => ({ start: () => {}, stop: async () => {}, tell: () => {}, ask }),
    },
    {
      own: { here: async () => [], deleteHere: async () => 0 },
      ...{ runner, asked: runner, background: runner },
    },
  );
  /** Something was written of a box before. */
  const write = (box: string, copies: readonly Copy[]): void => {
    mkdirSync(join(boxesDir, box), { recursive: true });
    writeCopies(copiesPath(join(boxesDir, box), CAMERA), CopyTable.of(copies));
  };
  return { others, boxes, boxesDir, clock, runner, lines, asked, asks, nothing, write };
};
