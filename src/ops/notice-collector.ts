import type { Registry } from 'prom-client';
import { CollectedCounter, CollectedGauge, line } from './collected.js';
import type { NoticeFigures } from './metrics-source.js';

/** What becomes of messages to others. */
export class NoticeCollector {
  readonly #waiting: CollectedGauge;
  readonly #sending: CollectedGauge;
  readonly #messages: CollectedCounter;
  readonly #mqttConnected: CollectedGauge;
  readonly #mqttWaiting: CollectedGauge;
  readonly #mqttConnects: CollectedCounter;
  readonly #mqttMessages: CollectedCounter;

  constructor(register: Registry) {
    this.#waiting = new CollectedGauge(register, {
      name: 'svc_webhook_waiting',
      help: 'Messages to webhooks that are yet to be sent.',
    });
    this.#sending = new CollectedGauge(register, {
      name: 'svc_webhook_sending',
      help: 'Messages to webhooks that are on their way: one a receiver.',
    });
    this.#messages = new CollectedCounter(register, {
      name: 'svc_webhook_messages_total',
      help: 'Messages to webhooks: sent, attempts that failed, and messages that were dropped.',
      labelNames: ['outcome'],
    });
    this.#mqttConnected = new CollectedGauge(register, {
      name: 'svc_mqtt_connected',
      help: '1 while the MQTT broker is connected, else 0; none where MQTT_URL is not set.',
    });
    this.#mqttWaiting = new CollectedGauge(register, {
      name: 'svc_mqtt_waiting',
      help: 'Events that the MQTT broker is yet to be told of.',
    });
    this.#mqttConnects = new CollectedCounter(register, {
      name: 'svc_mqtt_connects_total',
      help: 'Connections to the MQTT broker that came to be.',
    });
    this.#mqttMessages = new CollectedCounter(register, {
      name: 'svc_mqtt_messages_total',
      help: 'Messages to the MQTT broker: sent, and events that were dropped.',
      labelNames: ['outcome'],
    });
  }

  collect({ webhooks, mqtt }: NoticeFigures): void {
    this.#waiting.lines = [line(webhooks.waiting)];
    this.#sending.lines = [line(webhooks.sending)];
    this.#messages.lines = (['sent', 'failed', 'dropped'] as const).map((outcome) =>
      line(webhooks[outcome], { outcome }),
    );
    this.#mqttConnected.lines = mqtt === null ? [] : [line(mqtt.isUp ? 1 : 0)];
    this.#mqttWaiting.lines = mqtt === null ? [] : [line(mqtt.waiting)];
    this.#mqttConnects.lines = mqtt === null ? [] : [line(mqtt.connects)];
    this.#mqttMessages.lines =
      mqtt === null ? [] : (['sent', 'dropped'] as const).map((outcome) => line(mqtt[outcome], { outcome }));
  }
}
