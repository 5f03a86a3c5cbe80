import { join } from 'node:path';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { Config } from './config.js';
import { occurrencesOf } from './notify/occurrence.js';
import { MAX_WAIT_MS } from './notify/webhooks/attempts.js';
import { Outbox } from './notify/webhooks/outbox.js';
import { Webhooks } from './notify/webhooks/webhooks.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

/** Whoever is told of what happens outside of the service. */
export type Notices = { readonly webhooks: Webhooks };

/** To be built before whatever makes events, so that it is told of all of them, and hears their ends when they stop. */
export const buildNotices = (
  config: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  { store, events }: Storage,
  stops: Stops,
): Notices => {
  const latestMs = clock.wallMs() + MAX_WAIT_MS;
  const outbox = new Outbox(join(config.dataDir, 'outbox.db'), { log, latestMs });
  const webhooks = new Webhooks({
    ...{ clock, log, outbox },
    table: store.webhooks,
    allowsLocal: config.webhooksToLocal,
  });
  stops.push(() => webhooks.stop());
  events.changed.on((event, changes) => {
    for (const occurrence of occurrencesOf(event, changes)) webhooks.tell(occurrence);
  });
  return { webhooks };
};
