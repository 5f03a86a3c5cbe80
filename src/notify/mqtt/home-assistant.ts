import { JOINT, nodeOf, type Topics } from './topics.js';

/** A thing of Home Assistant's. */
type Component = Readonly<Record<string, unknown>> & { readonly platform: string };

const ORIGIN_NAME = 'Framering';
const MAX_NAME = 128;

/** What a camera or a model calls something, as one line; half a character is none that JSON's readers take. */
const lineOf = (text: string): string => {
  const plain = text.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return [...plain].slice(0, MAX_NAME).join('').trim() || 'Object';
};

const onOff = (condition: string): string => `{{ 'ON' if ${condition} else 'OFF' }}`;

/** What Home Assistant calls it follows a person's language there only for what has a class; ours are English. */
export class HomeAssistant {
  readonly #topics: Topics;
  readonly #version: string;

  constructor(topics: Topics, version: string) {
    this.#topics = topics;
    this.#version = version;
  }

  /** The service itself. */
  service(): string {
    const { storage } = this.#topics;
    return this.#payload(null, { name: ORIGIN_NAME }, [this.#isRunning], {
      storage: {
        ...{ platform: 'binary_sensor', name: 'Storage', device_class: 'problem' },
        ...{ entity_category: 'diagnostic', state_topic: storage },
        value_template: onOff("value_json.fault != ''"),
        json_attributes_topic: storage,
      },
    });
  }

  /** A camera, with a sensor for each label that was ever seen there. */
  camera(id: string, labels: readonly string[]): string {
    const topic = this.#topics.camera(id);
    const seen = {
      availability_mode: 'all',
      availability: [this.#isRunning, isStreaming(topic)],
    };
    const components: Record<string, Component> = {
      connected: {
        ...{ platform: 'binary_sensor', name: 'Connected', device_class: 'connectivity' },
        ...{ state_topic: `${topic}/state`, value_template: onOff("value_json.state == 'streaming'") },
        json_attributes_topic: `${topic}/state`,
        // At rest it is neither there nor lost, as in the metrics.
        ...{ availability_mode: 'all', availability: [this.#isRunning, isConnectable(topic)] },
      },
      recording: {
        ...{ platform: 'binary_sensor', name: 'Recording', device_class: 'running' },
        ...{ state_topic: `${topic}/state`, value_template: onOff('value_json.recording') },
      },
      motion: {
        ...{ platform: 'binary_sensor', name: 'Motion', device_class: 'motion' },
        ...{ state_topic: `${topic}/motion`, ...seen },
      },
      picture: {
        ...{ platform: 'image', name: 'Last seen', content_type: 'image/jpeg' },
        image_topic: `${topic}/picture`,
      },
      fps: { ...figure(topic, 'fps', 'Frame rate', 'fps'), ...seen },
      bitrate: { ...figure(topic, 'bitrate', 'Bit rate', 'kbit/s'), device_class: 'data_rate', ...seen },
      viewers: figure(topic, 'viewers', 'Viewers', null),
    };
    for (const label of labels) {
      const [key, title] = [nodeOf(label), lineOf(label)];
      const state_topic = this.#topics.objects(id, label);
      components[`object_${key}`] = {
        ...{ platform: 'binary_sensor', name: title, device_class: 'occupancy', state_topic, ...seen },
        value_template: onOff('value | int(0) > 0'),
      };
      components[`count_${key}`] = {
        ...{ platform: 'sensor', name: `${title} count`, state_class: 'measurement', state_topic, ...seen },
      };
    }
    const device = { name: id, via_device: this.#topics.deviceId(null) };
    return this.#payload(id, device, [this.#isRunning], components);
  }

  get #isRunning(): { readonly topic: string } {
    return { topic: this.#topics.available };
  }

  #payload(
    cameraId: string | null,
    device: Readonly<Record<string, unknown>>,
    availability: readonly object[],
    components: Readonly<Record<string, Component>>,
  ): string {
    const deviceId = this.#topics.deviceId(cameraId);
    const sw_version = this.#version;
    return JSON.stringify({
      device: { identifiers: [deviceId], manufacturer: ORIGIN_NAME, sw_version, ...device },
      origin: { name: ORIGIN_NAME, sw_version },
      availability,
      qos: 1,
      components: Object.fromEntries(
        Object.entries(components).map(([key, component]) => [
          key,
          { ...component, unique_id: `${deviceId}${JOINT}${key}` },
        ]),
      ),
    });
  }
}

const isStreaming = (topic: string) => ({
  topic: `${topic}/state`,
  value_template: "{{ 'online' if value_json.state == 'streaming' else 'offline' }}",
});

const isConnectable = (topic: string) => ({
  topic: `${topic}/state`,
  value_template: "{{ 'offline' if value_json.state in ['standby', 'disabled'] else 'online' }}",
});

const figure = (topic: string, field: string, name: string, unit: string | null): Component => ({
  ...{ platform: 'sensor', name, entity_category: 'diagnostic', state_class: 'measurement' },
  ...{ state_topic: `${topic}/figures`, value_template: `{{ value_json.${field} }}` },
  ...(unit === null ? {} : { unit_of_measurement: unit }),
});
