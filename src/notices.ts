import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { CameraRegistry } from './camera/registry.js';
import type { Config } from './config.js';
import type { Media } from './media.js';
import type { CameraFacts } from './notify/mqtt/camera-facts.js';
import { Mqtt } from './notify/mqtt/mqtt.js';
import { occurrencesOf } from './notify/occurrence.js';
import { MAX_WAIT_MS } from './notify/webhooks/attempts.js';
import { Outbox } from './notify/webhooks/outbox.js';
import { Webhooks } from './notify/webhooks/webhooks.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

/** Whoever is told of what happens outside of the service. */
export type Notices = { readonly webhooks: Webhooks; readonly mqtt: Mqtt | null };

type Base = { readonly clock: Clock; readonly log: Logger; readonly version: string };

function* cameraFacts(registry: CameraRegistry): Iterable<CameraFacts> {
  for (const [id, runtime] of registry.runtimes()) {
    const { state, last_error, codec, resolution, recording, record_error, fps, bitrate, viewers } = runtime;
    yield { id, state, last_error, codec, resolution, recording, record_error, fps, bitrate, viewers };
  }
}

const mqttClientId = ({ store: { facts } }: Storage): string => {
  const known = facts.text('mqtt_client_id');
  if (known !== null) return known;
  // MQTT 3.1.1, section 3.1.3.1: 23 letters and figures are taken by every broker.
  const made = `framering${randomUUID().replaceAll('-', '').slice(0, 14)}`;
  facts.setText('mqtt_client_id', made);
  return made;
};

const buildMqtt = (
  settings: NonNullable<Config['mqtt']>,
  { clock, log, version }: Base,
  storage: Storage,
  { registry, detections, beat, storageFault }: Media,
  stops: Stops,
): Mqtt => {
  const { events, eventPictures, store } = storage;
  const labelsOf = (cameraId: string): string[] => {
    const { detect, detection } = store.cameras.get(cameraId);
    return [...new Set([...(detect ? (detection.labels ?? []) : []), ...events.labelsOf(cameraId)])];
  };
  const mqtt = new Mqtt(settings, {
    ...{ clock, log, version, clientId: mqttClientId(storage) },
    ...{ open: events.open(), labelsOf, keepEvents: () => events.flush() },
  });
  stops.push(() => mqtt.stop());
  events.changed.on((event, changes) => mqtt.onEvent(event, changes));
  detections.seen.on((cameraId, detection) => mqtt.onSeen(cameraId, detection));
  eventPictures.added.on((id, jpeg) => mqtt.onPicture(id, jpeg));
  beat.on(() => mqtt.look(cameraFacts(registry), storageFault()));
  return mqtt;
};

/** To be built before whatever makes events, so that it is told of all of them, and hears their ends when they stop. */
export const buildNotices = (
  config: Config,
  base: Base,
  storage: Storage,
  media: Media,
  stops: Stops,
): Notices => {
  const { clock, log } = base;
  const { store, events } = storage;
  const latestMs = clock.wallMs() + MAX_WAIT_MS;
  const outbox = new Outbox(join(config.dataDir, 'outbox.db'), { log, latestMs });
  const webhooks = new Webhooks({
    ...{ clock, log, outbox },
    table: store.webhooks,
    change: store.change,
    allowsLocal: config.webhooksToLocal,
    keepEvents: () => events.flush(),
  });
  stops.push(() => webhooks.stop());
  events.changed.on((event, changes) => {
    for (const occurrence of occurrencesOf(event, changes)) webhooks.tell(occurrence);
  });
  const mqtt = config.mqtt && buildMqtt(config.mqtt, base, storage, media, stops);
  return { webhooks, mqtt };
};
