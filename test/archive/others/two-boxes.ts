import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JobInput, JobName, JobOutput } from '../../../src/archive/jobs/jobs.js';
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

/** A disk that doesn't do one thing. */
class FailingRunner extends InlineRunner {
  failing: JobName | null = null;

  override async run<Name extends JobName>(name: Name, input: JobInput<Name>): Promise<JobOutput<Name>> {
    if (name === this.failing) throw new AppError('archive_unavailable', "the archive's disk fails (ENOSPC)");
    return super.run(name, input);
  }
}

/** A box that has recordings, and what another one keeps of them; that asks without a network. */
export const twoBoxes = (t: TestContext) => {
  const [archiveDir, boxesDir] = [tempFolder(t), tempFolder(t)];
  const folder = join(archiveDir, CAMERA);
  mkdirSync(folder);
  const [clock, runner] = [new FakeClock(), new FailingRunner()];
  const maker = { box: OWNER, epochsOf: () => () => 7 };
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, maker });
  const own = { here: (id: string) => recordings.here(id), deleteHere: async () => 3 };
  const { log, lines } = logLines();
  const asked: string[] = [];
  const state = {
    isHere: true,
    isSilent: false,
    /** It answers not of this camera, or refuses it. */
    silentOf: null as string | null,
    refused: null as string | null,
    /** The next list is answered, but on its way until it is released. */
    hold: () => {
      let release = (): void => {};
      const until = new Promise<void>((resolve) => {
        release = resolve;
      });
      const holding = { isAnswered: false, release };
      held = { until, holding };
      return holding;
    },
  };
  let held: { until: Promise<void>; holding: { isAnswered: boolean } } | null = null;
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
          if (state.isSilent || (what === 'list' && cameraId === state.silentOf)) await new Promise(() => {});
          if (what === 'list' && cameraId === state.refused)
            throw new AppError('archive_unavailable', "that camera's folder can not be read");
          if (!state.isHere) throw new AppError('relay_unreachable', 'it is away');
          // As it goes over the wire.
          const { content, bytes } = await answers.answer('other', JSON.parse(JSON.stringify(question)));
          if (what === 'list' && held !== null) {
            const { until, holding } = held;
            held = null;
            holding.isAnswered = true;
            await until;
          }
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
