import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Absences } from '../../../src/archive/offsite/absences.js';
import { Departures, type DeparturesDeps } from '../../../src/archive/offsite/departures.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { OtherCopies } from '../../../src/archive/offsite/other-copies.js';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import type { S3Object } from '../../../src/s3/s3-client.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';

type Client = DeparturesDeps['client'];

/** What departs from a store that is a map, by what is written in a folder; the test says what time it is. */
export class Departing {
  readonly archiveDir: string;
  readonly copiesDir: string;
  readonly store = new Map<string, S3Object>();
  readonly logged = logLines();
  nowMs = 0;
  wallMs = Date.UTC(2026, 10, 23);
  readonly client: { -readonly [Name in keyof Client]: Client[Name] } = {
    head: async (name) => this.store.get(name) ?? null,
    delete: async (name) => void this.store.delete(name),
    list: async (beginning) => ({
      items: [...this.store]
        .filter(([name]) => name.startsWith(beginning))
        .map(([name, { bytes, etag }]) => ({ name, bytes, etag })),
      next: null,
    }),
    abortUpload: async () => {},
    listUploads: async () => [],
  };
  notes!: Notes;
  outbox!: Outbox;
  /** What other boxes put there. */
  others!: OtherCopies;
  departures!: Departures;

  constructor(t: TestContext) {
    this.archiveDir = join(tempFolder(t), 'recordings');
    this.copiesDir = join(tempFolder(t), '0'.repeat(16));
    this.restart();
  }

  /** By what is written. */
  restart(): void {
    const { archiveDir, copiesDir, client } = this;
    const nowMs = (): number => this.nowMs;
    this.notes = new Notes(copiesDir, { nowMs, leaveMs: 60_000 });
    this.outbox = new Outbox(join(copiesDir, 'outbox.json'), () => this.notes.doubtAll());
    this.others = new OtherCopies(copiesDir, { nowMs, leaveMs: 60_000 });
    const absences = new Absences(join(copiesDir, 'absences.json'), nowMs);
    const { notes, outbox, others } = this;
    this.departures = new Departures(
      { archiveDir, box: 'box' },
      {
        ...{ client, log: this.logged.log, nowMs, wallMs: () => this.wallMs, notes, outbox },
        ...{ others, absences },
        onChange: () => {},
      },
    );
  }

  /** Some of what is to be done by then; whether there is more. */
  async step(laterMs = 0): Promise<boolean> {
    this.nowMs += laterMs;
    return this.departures.step(new AbortController().signal);
  }
}
