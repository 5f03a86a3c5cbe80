import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import type { KeptEvent } from '../../src/events/kept/event.js';
import { occurrencesOf } from '../../src/notify/occurrence.js';
import { Outbox } from '../../src/notify/webhooks/outbox.js';
import type { Lookup } from '../../src/notify/webhooks/target-address.js';
import { type NewWebhook, Webhooks } from '../../src/notify/webhooks/webhooks.js';
import { Store } from '../../src/store/store.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

export type WebhooksRig = {
  readonly clock: FakeClock;
  readonly webhooks: Webhooks;
  readonly lines: string[];
  /** Makes a webhook, and answers its id. */
  add(fields: Partial<NewWebhook> & { url: string }): Promise<{ id: string; secret: string }>;
  begin(fields?: Partial<KeptEvent>): KeptEvent;
  end(event: KeptEvent): void;
  /** Lets time pass, and what is on its way meanwhile arrive. */
  pass(durationMs: number): Promise<void>;
  /** Ends this one without asking, and begins another one over the same files. */
  again(): WebhooksRig;
};

export type RigOptions = {
  readonly allowsLocal?: boolean;
  readonly resolve?: Lookup;
  readonly folder?: string;
};

/** Shorter than the deadline of a request. */
const STEP_MS = 10_000;

let lastId = 1_700_000_000_000_000;

const open = (t: TestContext, folder: string, clock: FakeClock, options: RigOptions): WebhooksRig => {
  const lines: string[] = [];
  const log = createLogger((level, message, fields) =>
    lines.push(JSON.stringify({ level, message, ...fields })),
  );
  const store = new Store(join(folder, 'framering.db'));
  const outbox = new Outbox(join(folder, 'outbox.db'), { log, latestMs: clock.wallMs() + 86_400_000 });
  const webhooks = new Webhooks({
    ...{ clock, log, outbox, table: store.webhooks, change: store.change, random: () => 0 },
    allowsLocal: options.allowsLocal ?? true,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  });
  const stop = (): void => {
    webhooks.stop();
    store.close();
  };
  t.after(stop);
  const tell = (event: KeptEvent, isEnd: boolean): void => {
    for (const occurrence of occurrencesOf(event, isEnd ? { toMs: event.toMs } : null))
      webhooks.tell(occurrence);
  };
  return {
    ...{ clock, webhooks, lines },
    add: (fields) =>
      webhooks.create({
        ...{ name: randomUUID(), enabled: true, types: [], camera_ids: [], labels: [], secret: null },
        ...fields,
      }),
    begin: (fields = {}) => {
      const event: KeptEvent = {
        ...{ id: ++lastId, cameraId: 'door', type: 'detection', label: 'person', score: 0.9 },
        ...{ fromMs: clock.wallMs(), toMs: null, isProtected: false, detail: '' },
        ...fields,
      };
      tell(event, false);
      return event;
    },
    end: (event) => tell({ ...event, toMs: clock.wallMs() }, true),
    pass: async (durationMs) => {
      for (let leftMs = durationMs; leftMs > 0; leftMs -= STEP_MS) {
        clock.advance(Math.min(leftMs, STEP_MS));
        if (webhooks.sending > 0) await until('it arrived', () => webhooks.sending === 0);
      }
    },
    again: () => {
      stop();
      return open(t, folder, clock, options);
    },
  };
};

/** Webhooks over files of their own, and a clock that the test moves; sockets are real. */
export const openWebhooks = (t: TestContext, options: RigOptions = {}): WebhooksRig =>
  open(t, options.folder ?? tempFolder(t), new FakeClock(Date.now()), options);
