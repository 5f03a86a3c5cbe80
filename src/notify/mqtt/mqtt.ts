import { type BrokerAddress, brokerName } from '../../base/broker-address.js';
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { EventChanges, KeptEvent } from '../../events/kept/event.js';
import { toldEvent } from '../occurrence.js';
import { type CameraFacts, figuresPayload, statePayload } from './camera-facts.js';
import { HomeAssistant } from './home-assistant.js';
import { OpenEvents } from './open-events.js';
import { Publisher } from './publisher.js';
import { Topics } from './topics.js';

export type MqttSettings = {
  readonly address: BrokerAddress;
  readonly ca: Buffer | null;
  readonly prefix: string;
  /** Null: Home Assistant is told nothing. */
  readonly discoveryPrefix: string | null;
};

export type MqttDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** The same at each start: by it the broker knows that the one before is gone. */
  readonly clientId: string;
  /** Those that go on since before the service began. */
  readonly open: readonly KeptEvent[];
  /** What was ever seen at a camera. */
  readonly labelsOf: (cameraId: string) => readonly string[];
  /** Puts the events on the disk that are about to be told: who hears of a beginning is to hear of its end. */
  readonly keepEvents?: () => void;
  readonly random?: () => number;
};

/** What was seen in one picture. */
export type SeenObjects = {
  readonly wallMs: number;
  readonly source: string;
  readonly objects: readonly {
    readonly label: string;
    readonly score: number;
    readonly box: readonly number[];
    readonly zone: string;
  }[];
};

type Told = { labelCount: number; figuresMs: number };

const FIGURES_EVERY_MS = 30_000;
const SEEN_EVERY_MS = 1_000;
const MAX_OBJECTS = 64;
const MAX_PICTURE_BYTES = 500_000;
const MAX_PICTURES_AWAITED = 1_000;
/** What is retained from before comes at once; a broker that is slow has so long. */
const SWEEP_MS = 10_000;
/** Of what is retained from before, and is cleared after one connecting. */
const MAX_FOUND = 20_000;
const MAX_REMOVALS = 5_000;
/** None of ours is longer: prefix, camera and label have 128 each. */
const MAX_TOPIC = 512;
/** Home Assistant asks that not all answer its birth at once. */
const BIRTH_SPREAD_MS = 3_000;
const BIRTH_LEAST_MS = 500;
/** Anybody may say that it began, and it is much that is told then. */
const BIRTH_EVERY_MS = 60_000;

const isoOf = (wallMs: number): string => new Date(wallMs).toISOString();

/** What happens, told to an MQTT broker: in topics for anybody, and so that Home Assistant finds the cameras by itself. */
export class Mqtt {
  readonly #deps: MqttDeps;
  readonly #address: BrokerAddress;
  readonly #topics: Topics;
  readonly #publisher: Publisher;
  readonly #homeAssistant: HomeAssistant;
  readonly #events = new OpenEvents();
  /** Of each camera that there is. */
  readonly #told = new Map<string, Told>();
  /** Of events that may get a picture. */
  readonly #cameraOf = new Map<number, string>();
  readonly #seen = new Map<string, { atMs: number; isEmpty: boolean }>();
  /** The cameras were looked at: from then on it is known which topics are nobody's. */
  #isComplete = false;
  /** Topics that were found at the broker, and not yet judged. */
  readonly #found = new Set<string>();
  #removals = 0;
  #sweeping: Timer | null = null;
  #answering: Timer | null = null;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  /** Some began or ended that may not be on the disk. */
  #areEventsNew = false;

  constructor({ address, ca, prefix, discoveryPrefix }: MqttSettings, deps: MqttDeps) {
    this.#deps = deps;
    this.#address = address;
    this.#topics = new Topics(prefix, discoveryPrefix);
    this.#homeAssistant = new HomeAssistant(this.#topics, deps.version);
    for (const event of deps.open) this.#events.put(event);
    const { available } = this.#topics;
    const will = { topic: available, payload: 'offline', qos: 1, retain: true } as const;
    const { clock, log, random } = deps;
    this.#publisher = new Publisher(
      { address, ca, clientId: deps.clientId, will },
      {
        ...{ clock, log, ...(random && { random }) },
        onUp: () => this.#onUp(),
        onTelling: () => this.#keepEvents(),
        onMessage: (topic, payload, isRetained) => this.#onMessage(topic, payload, isRetained),
      },
    );
    this.#publisher.keep(available, 'online');
    this.#keepDiscovery(null, () => this.#homeAssistant.service());
  }

  get figures(): { isUp: boolean; waiting: number; sent: number; dropped: number; connects: number } {
    const { isUp, waiting, counts } = this.#publisher;
    return { isUp, waiting, ...counts };
  }

  /** How it stands, for who set it up: no secret. */
  get view() {
    const { upSinceMs, fault, waiting, counts } = this.#publisher;
    return {
      broker: brokerName(this.#address),
      prefix: this.#topics.prefix,
      connected_since: upSinceMs === null ? null : isoOf(upSinceMs),
      last_error: fault,
      ...{ waiting, dropped: counts.dropped },
    };
  }

  /** What each camera does now: all of them, once a second. */
  look(cameras: Iterable<CameraFacts>, storageFault: string): void {
    const gone = new Set(this.#told.keys());
    for (const facts of cameras) {
      gone.delete(facts.id);
      this.#tellCamera(facts);
    }
    if (gone.size > 0) this.#forget(gone);
    this.#publisher.keep(this.#topics.storage, JSON.stringify({ fault: storageFault }));
    this.#isComplete = true;
    for (const topic of this.#found) this.#clearIfNobodys(topic);
    this.#found.clear();
  }

  /** An event began (null), or is another. */
  onEvent(event: KeptEvent, changes: EventChanges | { readonly isProtected: boolean } | null): void {
    if (changes !== null && 'isProtected' in changes) return;
    if (changes === null) this.#tellEvent('new', event);
    const isEnd = event.toMs !== null && (changes === null || 'toMs' in changes);
    if (isEnd) this.#tellEvent('end', event);
    else if (changes !== null) this.#tellEvent('update', event);
    const { cameraId } = event;
    if (event.type === 'detection') this.#noteCamera(event);
    const isKnown = this.#told.has(cameraId);
    // What ends at a camera that is gone is counted nowhere any more.
    if (!isKnown && this.#isComplete && isEnd) return;
    if (this.#events.put(event) && isKnown) this.#tellOngoing(cameraId);
  }

  /** Of each camera once a second at most, and that nothing is there once, at once: nothing may follow it for hours. */
  onSeen(cameraId: string, { wallMs, source, objects }: SeenObjects): void {
    if (!this.#publisher.isUp) return;
    const nowMs = this.#deps.clock.monotonicMs();
    const before = this.#seen.get(cameraId) ?? { atMs: Number.NEGATIVE_INFINITY, isEmpty: true };
    const isEmpty = objects.length === 0;
    if (isEmpty ? before.isEmpty : nowMs - before.atMs < SEEN_EVERY_MS) return;
    this.#seen.set(cameraId, { atMs: nowMs, isEmpty });
    const told = objects
      .slice(0, MAX_OBJECTS)
      .map(({ label, score, box, zone }) => ({ label, score, box, zone }));
    const payload = JSON.stringify({ camera_id: cameraId, time: isoOf(wallMs), source, objects: told });
    const topic = `${this.#topics.camera(cameraId)}/detections`;
    this.#publisher.mention({ topic, payload, qos: 0, retain: false });
  }

  /** An event has a picture: it is what was seen at its camera last. */
  onPicture(eventId: number, jpeg: Uint8Array): void {
    const cameraId = this.#cameraOf.get(eventId);
    if (cameraId === undefined || !this.#told.has(cameraId) || jpeg.length > MAX_PICTURE_BYTES) return;
    const { buffer, byteOffset, byteLength } = jpeg;
    const payload = Buffer.from(buffer, byteOffset, byteLength);
    const topic = `${this.#topics.camera(cameraId)}/picture`;
    this.#publisher.mention({ topic, payload, qos: 1, retain: true });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sweeping?.cancel();
    this.#answering?.cancel();
    const { available: topic } = this.#topics;
    await this.#publisher.stop({ topic, payload: 'offline', qos: 1, retain: true });
  }

  #tellCamera(facts: CameraFacts): void {
    const { id } = facts;
    const nowMs = this.#deps.clock.monotonicMs();
    const topic = this.#topics.camera(id);
    const told = this.#told.get(id) ?? this.#meet(id);
    this.#publisher.keep(`${topic}/state`, statePayload(facts));
    if (nowMs - told.figuresMs >= FIGURES_EVERY_MS) {
      told.figuresMs = nowMs;
      this.#publisher.keep(`${topic}/figures`, figuresPayload(facts));
    }
  }

  #meet(cameraId: string): Told {
    for (const label of this.#deps.labelsOf(cameraId)) this.#events.know(cameraId, label);
    const told = { labelCount: -1, figuresMs: Number.NEGATIVE_INFINITY };
    this.#told.set(cameraId, told);
    this.#tellOngoing(cameraId);
    return told;
  }

  /** Motion, objects, and a device that has a sensor for each of them. */
  #tellOngoing(cameraId: string): void {
    const told = this.#told.get(cameraId)!;
    const motion = this.#events.isMoving(cameraId) ? 'ON' : 'OFF';
    this.#publisher.keep(`${this.#topics.camera(cameraId)}/motion`, motion);
    const counts = [...this.#events.counts(cameraId)];
    if (counts.length !== told.labelCount) {
      told.labelCount = counts.length;
      const labels = counts.map(([label]) => label);
      this.#keepDiscovery(cameraId, () => this.#homeAssistant.camera(cameraId, labels));
    }
    for (const [label, count] of counts)
      this.#publisher.keep(this.#topics.objects(cameraId, label), String(count));
  }

  #noteCamera({ id, cameraId }: KeptEvent): void {
    // One that was noted again is the newest.
    this.#cameraOf.delete(id);
    this.#cameraOf.set(id, cameraId);
    const [oldest] = this.#cameraOf.keys();
    if (this.#cameraOf.size > MAX_PICTURES_AWAITED) this.#cameraOf.delete(oldest!);
  }

  #keepDiscovery(cameraId: string | null, payload: () => string): void {
    const topic = this.#topics.discovery(cameraId);
    if (topic !== null) this.#publisher.keep(topic, payload());
  }

  #keepEvents(): void {
    if (!this.#areEventsNew) return;
    this.#areEventsNew = false;
    this.#deps.keepEvents?.();
  }

  #tellEvent(type: 'new' | 'update' | 'end', event: KeptEvent): void {
    // One that is only another is known by its id.
    if (type !== 'update') this.#areEventsNew = true;
    this.#publisher.tell(this.#topics.events, JSON.stringify({ type, event: toldEvent(event) }));
  }

  /** The camera is gone, and so is all that the broker keeps of it. */
  /** All at once, since each topic is looked at: hundreds may go together. */
  #forget(cameraIds: ReadonlySet<string>): void {
    const starts = new Set<string>();
    const discoveries = new Set<string | null>();
    for (const cameraId of cameraIds) {
      this.#told.delete(cameraId);
      this.#seen.delete(cameraId);
      this.#events.forget(cameraId);
      const start = `${this.#topics.camera(cameraId)}/`;
      starts.add(start);
      discoveries.add(this.#topics.discovery(cameraId));
      // First of all: it is not looked for after the next connecting, by the others it is found.
      this.#publisher.keep(`${start}picture`, '');
    }
    for (const topic of [...this.#publisher.keptTopics()])
      if (discoveries.has(topic) || starts.has(this.#topics.cameraStartOf(topic)))
        this.#publisher.keep(topic, '');
  }

  #onUp(): void {
    this.#found.clear();
    // A broker that sends ever more and takes nothing gets no further.
    this.#removals = this.#publisher.removals;
    const { birth, ofAnyCamera, available } = this.#topics;
    this.#publisher.subscribe(birth === null ? [available] : [available, birth]);
    this.#sweeping?.cancel();
    this.#publisher.subscribe(ofAnyCamera);
    this.#sweeping = this.#deps.clock.after(SWEEP_MS, () => this.#publisher.unsubscribe(ofAnyCamera));
  }

  #onMessage(topic: string, payload: Buffer, isRetained: boolean): void {
    const { available, birth } = this.#topics;
    if (topic === available) {
      // The will of a connection that was lost before this one may come late.
      if (!this.#isStopping && payload.toString() === 'offline') this.#publisher.repeat([available]);
    } else if (topic === birth) {
      if (payload.toString() === 'online' && !isRetained) this.#answerBirth();
    } else if (isRetained && payload.length > 0 && topic.length <= MAX_TOPIC) {
      if (this.#isComplete) this.#clearIfNobodys(topic);
      else if (this.#topics.cameraLevel(topic) !== null && this.#found.size < MAX_FOUND)
        this.#found.add(topic);
    }
  }

  /** Home Assistant began: it hears of everything once more. */
  #answerBirth(): void {
    const { clock, random = Math.random } = this.#deps;
    const sinceMs = clock.monotonicMs() - this.#answeredMs;
    const waitMs = Math.max(BIRTH_LEAST_MS + random() * BIRTH_SPREAD_MS, BIRTH_EVERY_MS - sinceMs);
    this.#answering ??= clock.after(waitMs, () => {
      this.#answering = null;
      this.#answeredMs = clock.monotonicMs();
      const topics = [...this.#publisher.keptTopics()];
      const discovery = topics.filter((topic) => topic.startsWith(`${this.#topics.discoveryPrefix}/device/`));
      // What there is, then how it is.
      this.#publisher.repeat(new Set([...discovery, ...topics]));
    });
  }

  /** A topic of a camera that went while the broker was away, or the service. */
  #clearIfNobodys(topic: string): void {
    const level = this.#topics.cameraLevel(topic);
    if (level === null || this.#publisher.isKept(topic) || this.#removals >= MAX_REMOVALS) return;
    this.#removals += 1;
    // Ids of cameras are spelled in topics as they are.
    const isCameraGone = !this.#told.has(level);
    if (isCameraGone) this.#publisher.keep(`${this.#topics.camera(level)}/picture`, '');
    this.#publisher.keep(topic, '');
    const discovery = this.#topics.discovery(level);
    if (isCameraGone && discovery !== null) this.#publisher.keep(discovery, '');
  }
}
