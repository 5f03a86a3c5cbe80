import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import { Answers } from '../../../src/archive/others/answers.js';
import { KeptLists } from '../../../src/archive/others/kept-lists.js';
import { OtherRecordings } from '../../../src/archive/others/other-recordings.js';
import { AppError } from '../../../src/base/errors.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';

export const OWNER = 'box-0';
export const CAMERA = 'door';

/** A box that has recordings, and what another one keeps of them; that asks without a network. */
export const twoBoxes = (t: TestContext) => {
  const [archiveDir, boxesDir] = [tempFolder(t), tempFolder(t)];
  const folder = join(archiveDir, CAMERA);
  mkdirSync(folder);
  const [clock, runner] = [new FakeClock(), new InlineRunner()];
  const maker = { box: OWNER, epochsOf: () => () => 7 };
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, maker });
  const own = { here: (id: string) => recordings.here(id), deleteHere: async () => 3 };
  const { log, lines } = logLines();
  const asked: string[] = [];
  const state = { isHere: true, isSilent: false };
  let answers: Answers;
  /** The owner begins anew. */
  const restart = (): void => {
    answers = new Answers({ archiveDir }, { own, runner, background: runner, clock });
  };
  restart();
  const lists = new KeptLists(
    { box: OWNER, boxesDir },
    {
      ...{ clock, log, runner, isHere: () => state.isHere, onTaken: () => {} },
      asker: {
        ask: async (_box, question) => {
          const { what, cameraId } = question;
          asked.push(cameraId === undefined ? String(what) : `${what} ${cameraId}`);
          if (state.isSilent) await new Promise(() => {});
          if (!state.isHere) throw new AppError('relay_unreachable', 'it is away');
          // As it goes over the wire.
          const { content, bytes } = await answers.answer('other', JSON.parse(JSON.stringify(question)));
          return { content: JSON.parse(JSON.stringify(content)), bytes: bytes ?? new Uint8Array(0) };
        },
      },
    },
  );
  const written = new OtherRecordings({ boxesDir }, { runner, mailbox: makeMailbox() });
  const known = {
    of: (cameraId: string, isHere: boolean) =>
      written.of(cameraId, [{ box: OWNER, isHere, heardMs: lists.heardMs }]),
  };
  return {
    ...{
      archiveDir,
      boxesDir,
      folder,
      clock,
      runner,
      recordings,
      lists,
      known,
      asked,
      lines,
      state,
      restart,
    },
    answer: (question: Record<string, unknown>) => answers.answer('other', question),
  };
};
