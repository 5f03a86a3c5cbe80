import type { TestContext } from 'node:test';
import { brokerAddressOf } from '../../src/base/broker-address.js';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { eventIdText, type KeptEvent } from '../../src/events/kept/event.js';
import type { CameraFacts } from '../../src/notify/mqtt/camera-facts.js';
import { Mqtt, type MqttDeps, type MqttSettings } from '../../src/notify/mqtt/mqtt.js';

export type MqttRig = {
  readonly mqtt: Mqtt;
  readonly lines: string[];
  begin(fields?: Partial<KeptEvent>): KeptEvent;
  end(event: KeptEvent): KeptEvent;
};

export const cameraFacts = (fields: Partial<CameraFacts> & { id: string }): CameraFacts => ({
  ...{ state: 'streaming', last_error: '', codec: 'h264', resolution: '640x480' },
  ...{ recording: true, record_error: '', fps: 25, bitrate: 2_000, viewers: 1 },
  ...fields,
});

export const idOf = (event: KeptEvent): string => eventIdText(event.id);

let lastId = 1_700_000_000_000_000;

/** Tells a broker what the test says that happens. */
export const openMqtt = (
  t: TestContext,
  url: string,
  settings: Partial<MqttSettings> = {},
  deps: Partial<MqttDeps> = {},
): MqttRig => {
  const lines: string[] = [];
  const log = createLogger((level, message, fields) =>
    lines.push(JSON.stringify({ level, message, ...fields })),
  );
  const address = brokerAddressOf(url);
  if (address === null) throw new Error(`${url} is no address of a broker`);
  const mqtt = new Mqtt(
    { address, ca: null, prefix: 'framering', discoveryPrefix: 'homeassistant', ...settings },
    {
      ...{ clock: systemClock, log, version: '1.2.3', clientId: `rig${lastId++}` },
      ...{ open: [], labelsOf: () => [], random: () => 0, ...deps },
    },
  );
  t.after(() => mqtt.stop());
  return {
    ...{ mqtt, lines },
    begin: (fields = {}) => {
      const event: KeptEvent = {
        ...{ id: ++lastId, cameraId: 'door', type: 'detection', label: 'person', score: 0.9 },
        ...{ fromMs: Date.now(), toMs: null, isProtected: false, detail: '' },
        ...fields,
      };
      mqtt.onEvent(event, null);
      return event;
    },
    end: (event) => {
      const ended = { ...event, toMs: Date.now() };
      mqtt.onEvent(ended, { toMs: ended.toMs });
      return ended;
    },
  };
};
