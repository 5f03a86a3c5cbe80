import { EMPTY_LANE } from '../tape/lane.js';
import { CameraTrack } from './camera-track.js';
import type { EngineCommand, EngineReport, Phase } from './engine-messages.js';
import { PlayClock } from './play-clock.js';
import { SharedToken } from './shared-token.js';
import { SoundDecoder } from './sound-decoder.js';

export type EngineDeps = {
  readonly report: (report: EngineReport, transfer?: Transferable[]) => void;
  readonly nextFrame: (run: (nowMs: number) => void) => void;
};

const LARGE_NEIGHBOURS = 8;
const SNAPSHOT_QUALITY = 0.92;

/** All cameras of an archive page, in step: they share one clock, and each shows its newest picture not after it. */
export class ArchiveEngine {
  readonly #deps: EngineDeps;
  readonly #tracks = new Map<string, CameraTrack>();
  readonly #sound: SoundDecoder;
  #large = '';
  #timeMs = 0;
  #rate = 1;
  #phase: Phase = 'paused';
  #clock: PlayClock | null = null;
  #lastTickMs = 0;
  #isSoundOn = false;
  #isReportDue = false;
  /** Steps come one after another, however fast keys are pressed. */
  #steps: Promise<void> = Promise.resolve();
  /** Steps that were asked for before something else was done mean nothing any more. */
  #moves = 0;
  readonly #token: SharedToken;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#token = new SharedToken((isRefused) => deps.report({ kind: 'token', isRefused }));
    this.#sound = new SoundDecoder((sound) =>
      deps.report(
        { kind: 'sound', sound },
        sound.channels.map((channel) => channel.buffer),
      ),
    );
  }

  take(command: EngineCommand): void {
    switch (command.op) {
      case 'add':
        this.#add(command.camera, command.canvas);
        break;
      case 'remove':
        this.#tracks.get(command.camera)?.close();
        this.#tracks.delete(command.camera);
        break;
      case 'resize':
        this.#tracks.get(command.camera)?.resize(command.width, command.height);
        break;
      case 'large':
        this.#large = command.camera;
        this.#sound.restart();
        break;
      case 'lanes':
        for (const [camera, lane] of Object.entries(command.lanes)) {
          const track = this.#tracks.get(camera);
          if (track !== undefined) track.lane = { ...EMPTY_LANE, ...lane };
        }
        break;
      case 'sound':
        this.#isSoundOn = command.isOn;
        break;
      case 'token':
        this.#token.give(command.token);
        break;
      case 'snapshot':
        void this.#snapshot(command.camera);
        break;
      default:
        this.#move(command);
    }
    this.#changed();
  }

  #move(command: Extract<EngineCommand, { op: 'seek' | 'scrub' | 'play' | 'pause' | 'step' }>): void {
    if (command.op !== 'step') this.#moves += 1;
    const moves = this.#moves;
    switch (command.op) {
      case 'seek':
        this.#seek(command.timeMs);
        break;
      case 'scrub':
        this.#clock = null;
        this.#phase = 'scrubbing';
        this.#timeMs = command.timeMs;
        for (const track of this.#tracks.values()) track.scrubTo(command.timeMs);
        break;
      case 'play':
        this.#rate = command.rate;
        this.#play();
        break;
      case 'pause':
        if (this.#clock !== null) this.#seek(this.#timeMs);
        break;
      case 'step':
        this.#steps = this.#steps.then(() => this.#step(command.direction, () => this.#moves === moves));
        break;
    }
  }

  #add(camera: string, canvas: OffscreenCanvas): void {
    this.#tracks.get(camera)?.close();
    const track = new CameraTrack({
      ...{ camera, canvas, token: this.#token.source },
      onChange: () => this.#changed(),
      onSound: (of, message) => {
        if (this.#isSoundOn && of === this.#large && this.#rate === 1) this.#sound.take(message);
      },
      neighbours: () => (this.#large === camera ? LARGE_NEIGHBOURS : 0),
    });
    this.#tracks.set(camera, track);
    if (this.#clock !== null) track.play(this.#timeMs, this.#rate);
    else if (this.#timeMs > 0) void track.seek(this.#timeMs);
  }

  #seek(timeMs: number): void {
    this.#clock = null;
    this.#timeMs = timeMs;
    this.#phase = 'seeking';
    const seeks = [...this.#tracks.values()].map((track) => track.seek(timeMs));
    void Promise.all(seeks).then(() => {
      if (this.#phase === 'seeking' && this.#timeMs === timeMs) this.#phase = 'paused';
      this.#changed();
    });
  }

  #play(): void {
    this.#clock = new PlayClock(this.#timeMs, this.#rate);
    this.#phase = 'waiting';
    this.#sound.restart();
    for (const track of this.#tracks.values()) track.play(this.#timeMs, this.#rate);
    this.#lastTickMs = performance.now();
    this.#loop(this.#clock);
  }

  #loop(clock: PlayClock): void {
    this.#deps.nextFrame(() => {
      if (this.#clock !== clock) return;
      this.#tick(clock);
      this.#loop(clock);
    });
  }

  #tick(clock: PlayClock): void {
    const nowMs = performance.now();
    const sinceMs = nowMs - this.#lastTickMs;
    this.#lastTickMs = nowMs;
    const tracks = [...this.#tracks.values()];
    const large = this.#tracks.get(this.#large) ?? tracks[0];
    const isReady = large?.isReady(this.#timeMs + sinceMs * this.#rate) ?? true;
    const lanes = tracks.map(({ lane }) => lane);
    const isCutOff = tracks.length > 0 && tracks.every((track) => track.isCutOff(this.#timeMs));
    const { timeMs, phase, skippedTo } = clock.tick(sinceMs, lanes, isReady, isCutOff);
    if (skippedTo !== null) {
      this.#deps.report({ kind: 'skipped', fromMs: this.#timeMs, toMs: skippedTo });
      for (const track of tracks) track.play(skippedTo, this.#rate);
    }
    this.#timeMs = timeMs;
    this.#phase = phase;
    for (const track of tracks) track.show(timeMs);
    this.#changed();
  }

  /** The large camera's next picture is the moment that the others go to. */
  async #step(direction: 1 | -1, isWanted: () => boolean): Promise<void> {
    const track = this.#tracks.get(this.#large) ?? [...this.#tracks.values()][0];
    if (track === undefined || !isWanted()) return;
    if (this.#clock !== null || track.stillShown === null) {
      this.#clock = null;
      await track.seek(this.#timeMs);
    }
    if (!isWanted()) return;
    const wallMs = await track.step(direction);
    // What came in between, play perhaps, is not to be stopped.
    if (!isWanted()) return;
    if (wallMs === null) {
      // Nothing is beside it; what was shown stays.
      await track.seek(this.#timeMs);
      if (isWanted()) this.#phase = 'paused';
      this.#changed();
      return;
    }
    this.#timeMs = wallMs;
    this.#phase = 'paused';
    for (const other of this.#tracks.values()) if (other !== track) void other.seek(wallMs);
    this.#changed();
  }

  async #snapshot(camera: string): Promise<void> {
    const track = this.#tracks.get(camera);
    if (track === undefined) return;
    if (track.stillShown === null) {
      this.#clock = null;
      this.#phase = 'paused';
      await track.seek(this.#timeMs);
    }
    const shown = track.stillShown;
    if (shown === null || !('width' in shown.picture)) {
      this.#deps.report({ kind: 'snapshot', camera, blob: null, shownMs: this.#timeMs });
      return;
    }
    const canvas = new OffscreenCanvas(shown.picture.width, shown.picture.height);
    canvas.getContext('2d', { alpha: false })?.drawImage(shown.picture, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: SNAPSHOT_QUALITY });
    this.#deps.report({ kind: 'snapshot', camera, blob, shownMs: shown.wallMs });
  }

  /** Told once a turn, however much changed. */
  #changed(): void {
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    queueMicrotask(() => {
      this.#isReportDue = false;
      const cameras = [...this.#tracks.values()].map(({ fact }) => fact);
      const isLoading = this.#phase === 'paused' && cameras.some((fact) => fact.isLoading);
      this.#deps.report({
        kind: 'position',
        timeMs: this.#timeMs,
        phase: isLoading ? 'seeking' : this.#phase,
        rate: this.#rate,
        cameras,
      });
    });
  }
}
